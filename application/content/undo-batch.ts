import type { UndoPlan } from '../../domain/content/undo-plan.ts';
import { NOTHING_TO_UNDO } from '../../domain/content/undo-plan.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { laterOf, ORIGIN } from '../../domain/event.ts';
import { inParallel } from '../in-parallel.ts';
import type { PlannedUndo } from './check-undo.ts';
import { checkPlan, findForeignReferrer } from './check-undo.ts';
import type { Batch, BatchSelector, NotUndoable } from './find-batch.ts';
import { findBatch } from './find-batch.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import type { EntryUndo, TypeOfEvent } from './undo-entry.ts';
import { applyEntryUndo, planEntryUndo } from './undo-entry.ts';

export type UndoDependencies = EntryDependencies & {
  /** A live content type by id. */
  readonly typeById: (tenant: string, typeId: string) => Promise<ContentType | undefined>;
  /** Resolves true when the read models have reached the position, false after the time-out. */
  readonly waitFor: (readModels: readonly string[], position: GlobalPosition, timeoutMs: number) => Promise<boolean>;
};

/** What became, or would become, of one entry. */
export type UndoneEntry = UndoPlan & { readonly id: string; readonly schema: string };

export type UndoReport = {
  readonly applied: boolean;
  /** Of the events that take the batch back; undefined for a dry run. */
  readonly correlationId: string | undefined;
  /** Entries that change or have something in the way, latest first; as many as an answer may hold. */
  readonly entries: readonly UndoneEntry[];
  readonly truncated: boolean;
  readonly notUndoable: readonly NotUndoable[];
  readonly totals: {
    readonly events: number;
    readonly entries: number;
    /** Entries that change. */
    readonly changed: number;
    /** Entries with something in the way. */
    readonly in_the_way: number;
    /** Entries of which nothing of the batch is left. */
    readonly unchanged: number;
    readonly not_undoable: number;
  };
  /** Position of the last event written. */
  readonly position: GlobalPosition | undefined;
};

const CHUNK = 48;
const PARALLEL = 8;
/** About how much of a report is listed, in characters. */
const MOST_CHARACTERS = 8_000_000;
const MOST_PASSES = 8;
const CATCH_UP_MS = 5000;

/**
 * Takes a batch of events back: what it changed goes back where it is still as the batch left it, by new events under one new correlation id, so that
 * the undo can be undone. Without `apply` nothing is written and the report says what would happen. Entries go back one by one, what was written last
 * first; one that waits for another is tried again. Run again, it goes on where it ended.
 * @throws `undo_nothing_found`, `undo_too_large`
 */
export async function undoBatch(
  { selector, apply, signal }: { readonly selector: BatchSelector; readonly apply: boolean; readonly signal: AbortSignal },
  context: CommandContext,
  dependencies: UndoDependencies,
): Promise<UndoReport> {
  const batch = await findBatch({ tenant: context.tenant, selector, signal }, dependencies.eventStore);
  if (batch.events === 0) throw refusal('undo_nothing_found');
  const correlationId = apply ? context.newId() : undefined;
  const report = createReport();
  const run = { batch, correlationId, signal, context: correlationId === undefined ? context : { ...context, correlationId }, dependencies, report };
  if (apply) await applyAll(run);
  else await planAll(run);
  const { events, streams, notUndoable, notUndoableCount } = batch;
  return { applied: apply, correlationId, ...report.read(), notUndoable, totals: { events, entries: streams.length, ...report.counts(), not_undoable: notUndoableCount } };
}

type Run = {
  readonly batch: Batch;
  readonly correlationId: string | undefined;
  readonly signal: AbortSignal;
  readonly context: CommandContext;
  readonly dependencies: UndoDependencies;
  readonly report: Report;
};

async function planAll({ batch, signal, context, dependencies, report }: Run): Promise<void> {
  const planned: PlannedUndo = { undeleted: new Set(), released: new Set() };
  for (const chunk of chunks(batch.streams, CHUNK)) {
    signal.throwIfAborted();
    const typeOf = typesOf(dependencies, context.tenant);
    const plans = await inParallel(chunk, PARALLEL, (stream) => planEntryUndo({ stream, typeOf, contains: batch.contains }, context, dependencies));
    for (const undo of plans) {
      if (!undo) continue;
      const kept = await withoutForeignReferrer(undo, batch, dependencies);
      report.add({ ...undo, plan: undo.found && kept.action !== 'none' ? await checkPlan({ ...undo.found, plan: kept }, planned, dependencies) : kept });
    }
  }
}

/** What is refused is tried again as long as others go back meanwhile; at the end only the fields that are refused stay. */
async function applyAll({ batch, correlationId, signal, context, dependencies, report }: Run): Promise<void> {
  // What this undo has written already is no later edit, whoever is tried again.
  const contains: Batch['contains'] = (event) => batch.contains(event) || event.metadata.$correlationId === correlationId;
  const begun = new Map<string, UndoPlan>();
  let waiting = batch.streams;
  for (let pass = 1; waiting.length > 0; pass += 1) {
    const lenient = pass === MOST_PASSES || (pass > 1 && report.progress() === 0);
    const deferred: string[] = [];
    for (const chunk of chunks(waiting, CHUNK)) {
      const typeOf = typesOf(dependencies, context.tenant);
      await inParallel(chunk, PARALLEL, async (stream) => {
        // The client is gone: what is written stays, and the next call goes on from there.
        if (signal.aborted) return;
        const undo = await planEntryUndo({ stream, typeOf, contains }, context, dependencies);
        if (!undo) return;
        const plan = await withoutForeignReferrer(undo, batch, dependencies);
        const done = undo.found && plan.action !== 'none' ? await applyEntryUndo({ ...undo.found, plan }, { lenient }, context, dependencies) : { plan, position: undefined, mayFollow: false };
        report.wrote(done.position);
        const whole = joined(begun.get(stream), done.plan);
        if (done.mayFollow && !lenient) {
          begun.set(stream, { ...whole, inTheWay: [] });
          deferred.push(stream);
        } else report.add({ ...undo, plan: whole });
      });
    }
    waiting = deferred;
    // Who waits for another must find what that one has written: references are asked of the read model.
    const { position } = report.read();
    if (waiting.length > 0 && position !== undefined) await dependencies.waitFor(['content'], position, CATCH_UP_MS);
  }
}

/** What several passes made of one entry. */
function joined(begun: UndoPlan | undefined, plan: UndoPlan): UndoPlan {
  if (!begun) return plan;
  return { action: begun.action === 'none' ? plan.action : begun.action, fields: [...begun.fields, ...plan.fields], inTheWay: plan.inTheWay };
}

async function withoutForeignReferrer({ plan, found }: EntryUndo, { ids }: Batch, dependencies: UndoDependencies): Promise<UndoPlan> {
  if (plan.action !== 'delete' || !found) return plan;
  const foreign = await findForeignReferrer({ type: found.type, id: found.entry.id, ofBatch: (id) => ids.has(id) }, dependencies);
  return foreign ? { ...NOTHING_TO_UNDO, inTheWay: [foreign] } : plan;
}

/** Types are asked for once a chunk: they may be saved while a long undo runs. */
function typesOf({ typeById }: UndoDependencies, tenant: string): TypeOfEvent {
  const known = new Map<string, Promise<ContentType | undefined>>();
  return async ({ data }) => {
    const id = data['type_id'];
    if (typeof id !== 'string') return undefined;
    const loading = known.get(id) ?? typeById(tenant, id);
    known.set(id, loading);
    return loading;
  };
}

type Report = ReturnType<typeof createReport>;

function createReport() {
  const entries: UndoneEntry[] = [];
  let characters = 0;
  let truncated = false;
  let position: GlobalPosition | undefined;
  let writes = 0;
  const totals = { changed: 0, in_the_way: 0, unchanged: 0 };
  return {
    add({ id, schema, plan }: Pick<EntryUndo, 'id' | 'schema' | 'plan'>): void {
      if (plan.action !== 'none') totals.changed += 1;
      if (plan.inTheWay.length > 0) totals.in_the_way += 1;
      if (plan.action === 'none' && plan.inTheWay.length === 0) {
        totals.unchanged += 1;
        return;
      }
      const size = JSON.stringify([plan.fields, plan.inTheWay]).length + 200;
      truncated ||= characters + size > MOST_CHARACTERS && entries.length > 0;
      if (truncated) return;
      characters += size;
      entries.push({ id, schema, ...plan });
    },
    wrote(at: GlobalPosition | undefined): void {
      if (at === undefined) return;
      writes += 1;
      position = laterOf(position ?? ORIGIN, at);
    },
    /** Entries written since the last time it was asked. */
    progress(): number {
      const made = writes;
      writes = 0;
      return made;
    },
    counts: () => totals,
    read: () => ({ entries, truncated, position }),
  };
}

function* chunks<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
