import type { BatchTrace } from '../../domain/content/batch-trace.ts';
import { NO_TRACE, traceEvent } from '../../domain/content/batch-trace.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import { revertEntry, sortOut } from '../../domain/content/revert-entry.ts';
import type { GoingBack, InTheWay, UndoPlan } from '../../domain/content/undo-plan.ts';
import { NOTHING_TO_UNDO, planUndo } from '../../domain/content/undo-plan.ts';
import type { CommandContext } from '../../domain/context.ts';
import { timestamp } from '../../domain/context.ts';
import { isAppError } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { parseEntryEvent } from '../../domain/content/parse-entry-event.ts';
import { parseStream } from '../../domain/stream.ts';
import { deleteEntry } from './delete-entry.ts';
import { applyEvent, NO_ENTRY } from './fold-entry.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { undeleteEntry } from './undelete-entry.ts';

/** The live content type of an entry's event. */
export type TypeOfEvent = (event: RecordedEvent) => Promise<ContentType | undefined>;

/** An entry of a batch as it is today, and what undoing the batch comes to for it. Without `found` nothing can be written: the plan says why. */
export type EntryUndo = {
  readonly id: string;
  /** Today's name of the content type, or that of the event where it is gone. */
  readonly schema: string;
  readonly found: { readonly type: ContentType; readonly entry: EntryState } | undefined;
  readonly plan: UndoPlan;
};

/**
 * Reads an entry's whole stream and says what goes back, under today's rules; what only the database knows (unique values, targets) is not asked yet.
 * @returns undefined when the stream holds nothing any more
 */
export async function planEntryUndo(
  { stream, typeOf, contains }: { readonly stream: string; readonly typeOf: TypeOfEvent; readonly contains: (event: RecordedEvent) => boolean },
  context: CommandContext,
  { eventStore }: Pick<EntryDependencies, 'eventStore'>,
): Promise<EntryUndo | undefined> {
  let at = NO_ENTRY;
  let trace: BatchTrace = NO_TRACE;
  let type: ContentType | undefined;
  for await (const event of eventStore.readStream(stream)) {
    if (!type) {
      type = await typeOf(event);
      const id = parseStream(event.stream)?.id ?? '';
      if (!type) return { id, schema: parseEntryEvent(event).data.schema, found: undefined, plan: { ...NOTHING_TO_UNDO, inTheWay: [{ reason: 'refused', message: 'the content type is gone' }] } };
    }
    const next = applyEvent(at, event, type);
    const { actor, occurred_at } = event.metadata;
    trace = traceEvent(type.definition, trace, [at.state, next.state], { version: event.revision + 1, actor, at: occurred_at, ofBatch: contains(event) });
    at = next;
  }
  const entry = at.state;
  if (!type || !entry) return undefined;
  const plan = planUndo(type.definition, trace, entry);
  const known = { id: entry.id, schema: type.name, found: { type, entry } };
  if (plan.fields.length === 0) return { ...known, plan };
  const command = { entryId: entry.id, typeId: type.id, typeRevision: type.revision, definition: type.definition, actor: context.actor, at: timestamp(context) };
  const { fields, inTheWay } = sortOut({ ...entry, deleted: false }, command, plan.fields);
  return { ...known, plan: withoutRefused(plan, fields, inTheWay) };
}

/** The plan without what was refused. */
export function withoutRefused(plan: UndoPlan, fields: readonly GoingBack[], inTheWay: readonly InTheWay[]): UndoPlan {
  return { action: plan.action === 'revert' && fields.length === 0 ? 'none' : plan.action, fields, inTheWay: [...plan.inTheWay, ...inTheWay] };
}

export type EntryUndone = {
  readonly plan: UndoPlan;
  /** Position of the last event; undefined when nothing was written. */
  readonly position: GlobalPosition | undefined;
  /** Something else of the batch may have to go back first. */
  readonly mayFollow: boolean;
};

/**
 * Writes what takes a plan's entry back, expecting the version that the plan saw. What is refused comes back as in the way: with `lenient` only the
 * fields that the refusal names, else all of it.
 */
export async function applyEntryUndo(
  { type, entry, plan }: { readonly type: ContentType; readonly entry: EntryState; readonly plan: UndoPlan },
  { lenient }: { readonly lenient: boolean },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryUndone> {
  const { id } = entry;
  let position: GlobalPosition | undefined;
  let version = entry.version;
  let fields = plan.fields;
  try {
    if (plan.action === 'delete') return { plan, position: (await deleteEntry({ type, id, versions: [version] }, context, dependencies)).position, mayFollow: false };
    if (plan.action === 'undelete') {
      const outcome = await undeleteEntry({ type, id, versions: [version], fromHistory: true }, context, dependencies);
      position = outcome.position;
      version = outcome.entry.version;
      fields = [...fields, ...lostIn(type, entry, outcome.entry).filter((lost) => !fields.some(({ field }) => field === lost.field))];
    }
  } catch (error) {
    const message = refusalOf(error);
    return { plan: { ...NOTHING_TO_UNDO, inTheWay: [...plan.inTheWay, { reason: 'refused', message }] }, position, mayFollow: true };
  }
  let inTheWay: readonly InTheWay[] = [];
  while (fields.length > 0) {
    const going = fields;
    try {
      const outcome = await runEntryCommand({ type, id, decide: (state, command) => revertEntry(state, { ...command, versions: [version], fields: going }) }, context, dependencies);
      position = outcome.position ?? position;
      break;
    } catch (error) {
      const message = refusalOf(error);
      const named = isAppError(error) ? (error.fields ?? []) : [];
      const refused = fields.filter(({ field }) => !lenient || named.length === 0 || named.some((problem) => problem.field === field));
      const stuck = refused.length > 0 ? refused : fields;
      inTheWay = [...inTheWay, ...stuck.map(({ field }): InTheWay => ({ field, reason: 'refused', message: named.find((problem) => problem.field === field)?.message ?? message }))];
      fields = fields.filter((aspect) => !stuck.includes(aspect));
    }
  }
  return { plan: withoutRefused(plan, fields, inTheWay), position, mayFollow: inTheWay.length > 0 };
}

/** What came back without its value: a relation whose target is gone, or not back yet. */
function lostIn({ definition }: ContentType, past: EntryState, back: EntryState): readonly GoingBack[] {
  return storedFields(definition)
    .map((field) => ({ field: field.key, from: shownValue(field, back.fields), to: shownValue(field, past.fields) }))
    .filter(({ from, to }) => !sameJson(from, to));
}

/** @throws what is no refusal of the entry itself: then nobody knows what was written */
function refusalOf(error: unknown): string {
  if (isAppError(error) && error.status < 500) return error.message;
  throw error;
}

