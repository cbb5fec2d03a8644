import { chunks } from '../../domain/chunks.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { NOTHING_TO_UNDO, type UndoPlan } from '../../domain/content/undo-plan.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import { type GlobalPosition, ORIGIN, laterOf } from '../../domain/event.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import { type PlannedEffects, checkUndo, findForeignReferrer } from './check-undo.ts';
import { type EntryUndo, type TypeOfEvent, applyEntryUndo, planEntryUndo } from './entry-undo.ts';
import { type Batch, type BatchSelector, type NotUndoable, findBatch } from './find-batch.ts';
import type { EntryDependencies } from './run-entry-command.ts';

export type UndoDependencies = EntryDependencies & {
  /** Loads a live content type. */
  readonly typeOfTenant: (tenant: string, typeId: string) => Promise<ContentType | undefined>;
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
};

/** The outcome, or the plan, for one entry. */
export type UndoneEntry = UndoPlan & { readonly id: string; readonly schema: string };

export type UndoReport = {
  readonly applied: boolean;
  /** Correlation id of the events that undo the batch; undefined for a dry run. */
  readonly correlationId: string | undefined;
  /** Entries that change or have obstacles, the one written last first; limited by the size of the response. */
  readonly entries: readonly UndoneEntry[];
  readonly truncated: boolean;
  readonly notUndoable: readonly NotUndoable[];
  readonly totals: {
    readonly events: number;
    readonly entries: number;
    /** Entries that change. */
    readonly changed: number;
    /** Entries with obstacles. */
    readonly in_the_way: number;
    /** Entries on which the batch no longer has an effect. */
    readonly unchanged: number;
    readonly not_undoable: number;
  };
  /** Position of the last event. */
  readonly position: GlobalPosition | undefined;
};

const CHUNK = 48;
const PARALLEL = 8;
/** Approximate maximum size of the listed entries, in characters. */
const MAX_CHARACTERS = 8_000_000;
const MAX_PASSES = 8;

/**
 * Undoes a batch of events. Changes that no later event has overwritten are reverted by new events under one new
 * correlation id, so that the undo can be undone. Without `apply` nothing is written, and the report says what would
 * happen. Entries are undone one by one, the one written last first; an entry that depends on another one is tried
 * again. A repeated undo continues after an interruption.
 * @throws `undo_nothing_found`, `undo_too_large`
 */
export async function undoBatch(
  {
    selector,
    apply,
    signal,
  }: { readonly selector: BatchSelector; readonly apply: boolean; readonly signal: AbortSignal },
  context: CommandContext,
  dependencies: UndoDependencies,
): Promise<UndoReport> {
  const batch = await findBatch({ tenant: context.tenant, selector, signal }, dependencies);
  if (batch.events === 0) throw refusal('undo_nothing_found');
  const correlationId = apply ? context.newId() : undefined;
  const report = createReport();
  const run = {
    batch,
    correlationId,
    signal,
    context: correlationId === undefined ? context : { ...context, correlationId },
    dependencies,
    report,
  };
  if (apply) await applyAll(run);
  else await planAll(run);
  const { events, streams, notUndoable, notUndoableCount } = batch;
  return {
    applied: apply,
    correlationId,
    ...report.read(),
    notUndoable,
    totals: { events, entries: streams.length, ...report.counts(), not_undoable: notUndoableCount },
  };
}

type Run = {
  readonly batch: Batch;
  readonly correlationId: string | undefined;
  readonly signal: AbortSignal;
  readonly context: CommandContext;
  readonly dependencies: UndoDependencies;
  readonly report: Report;
};

/**
 * Entries that would be refused are checked again as long as the plans of other entries add effects: an entry can
 * depend on one that is planned after it.
 */
async function planAll({ batch, signal, context, dependencies, report }: Run): Promise<void> {
  const effects: PlannedEffects = { undeleted: new Set(), released: new Set() };
  const countEffects = (): number => effects.undeleted.size + effects.released.size;
  let waiting = batch.streams;
  let effectsBefore = -1;
  for (let pass = 1; waiting.length > 0; pass += 1) {
    const isLast = pass === MAX_PASSES || countEffects() === effectsBefore;
    effectsBefore = countEffects();
    const deferred: string[] = [];
    for (const chunk of chunks(waiting, CHUNK)) {
      signal.throwIfAborted();
      const typeOf = typesOf(context.tenant, dependencies);
      const plans = await inParallel(chunk, PARALLEL, async (stream) => ({
        stream,
        undo: await planEntryUndo({ stream, typeOf, contains: batch.contains }, context, dependencies),
      }));
      for (const { stream, undo } of plans) {
        if (!undo) continue;
        const remaining = await withoutForeignReferrer(undo, batch, dependencies);
        const plan =
          undo.found && remaining.action !== 'none'
            ? await checkUndo({ ...undo.found, plan: remaining, effects }, dependencies)
            : remaining;
        if (plan.obstacles.length > remaining.obstacles.length && !isLast) deferred.push(stream);
        else report.add({ ...undo, plan });
      }
    }
    waiting = deferred;
  }
}

/**
 * Refused entries are tried again as long as other entries are undone. In the last pass only the refused fields are
 * skipped.
 */
async function applyAll({ batch, correlationId, signal, context, dependencies, report }: Run): Promise<void> {
  // The events of this undo do not count as later edits when an entry is tried again.
  const contains: Batch['contains'] = (event) =>
    batch.contains(event) || event.metadata.$correlationId === correlationId;
  const started = new Map<string, UndoPlan>();
  let waiting = batch.streams;
  for (let pass = 1; waiting.length > 0; pass += 1) {
    const lenient = pass === MAX_PASSES || (pass > 1 && report.progress() === 0);
    const deferred: string[] = [];
    for (const chunk of chunks(waiting, CHUNK)) {
      const typeOf = typesOf(context.tenant, dependencies);
      await inParallel(chunk, PARALLEL, async (stream) => {
        // The client has disconnected. The written events stay; a repeated undo continues from there.
        if (signal.aborted) return;
        const undo = await planEntryUndo({ stream, typeOf, contains }, context, dependencies);
        if (!undo) return;
        const plan = await withoutForeignReferrer(undo, batch, dependencies);
        const done =
          undo.found && plan.action !== 'none'
            ? await applyEntryUndo({ ...undo.found, plan, lenient }, context, dependencies)
            : { plan, position: undefined, isRetryable: false };
        report.recordWrite(done.position);
        const whole = joinPlans(started.get(stream), done.plan);
        if (done.isRetryable && !lenient) {
          started.set(stream, { ...whole, obstacles: [] });
          deferred.push(stream);
        } else report.add({ ...undo, plan: whole });
      });
    }
    waiting = deferred;
    // The next pass reads references from the read model, so wait until it has applied the events of this pass.
    const { position } = report.read();
    if (waiting.length > 0 && position !== undefined)
      await waitForReadModel({ name: 'content', position }, dependencies);
  }
}

/** Joins the results of several passes for one entry. */
function joinPlans(started: UndoPlan | undefined, plan: UndoPlan): UndoPlan {
  if (!started) return plan;
  return {
    action: started.action === 'none' ? plan.action : started.action,
    fields: [...started.fields, ...plan.fields],
    obstacles: plan.obstacles,
  };
}

async function withoutForeignReferrer(
  { plan, found }: EntryUndo,
  { ids }: Batch,
  dependencies: UndoDependencies,
): Promise<UndoPlan> {
  if (plan.action !== 'delete' || !found) return plan;
  const foreign = await findForeignReferrer(
    { type: found.type, id: found.entry.id, ofBatch: (id) => ids.has(id) },
    dependencies,
  );
  return foreign ? { ...NOTHING_TO_UNDO, obstacles: [foreign] } : plan;
}

/** Loads each content type once a chunk, because types may change during a long undo. */
function typesOf(tenant: string, { typeOfTenant }: UndoDependencies): TypeOfEvent {
  const types = new Map<string, Promise<ContentType | undefined>>();
  return async ({ data }) => {
    const id = data['type_id'];
    if (typeof id !== 'string') return undefined;
    const loading = types.get(id) ?? typeOfTenant(tenant, id);
    types.set(id, loading);
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
      if (plan.obstacles.length > 0) totals.in_the_way += 1;
      if (plan.action === 'none' && plan.obstacles.length === 0) {
        totals.unchanged += 1;
        return;
      }
      const size = JSON.stringify([plan.fields, plan.obstacles]).length + 200;
      truncated ||= characters + size > MAX_CHARACTERS && entries.length > 0;
      if (truncated) return;
      characters += size;
      entries.push({ id, schema, ...plan });
    },
    recordWrite(at: GlobalPosition | undefined): void {
      if (at === undefined) return;
      writes += 1;
      position = laterOf(position ?? ORIGIN, at);
    },
    /** Number of entries written since the last call. */
    progress(): number {
      const made = writes;
      writes = 0;
      return made;
    },
    counts: () => totals,
    read: () => ({ entries, truncated, position }),
  };
}
