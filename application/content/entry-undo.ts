import { type BatchTrace, NO_TRACE, traceEvent } from '../../domain/content/batch-trace.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { parseEntryEvent } from '../../domain/content/entry-events.ts';
import { shownValue, storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { checkReversions, revertEntry } from '../../domain/content/revert-entry.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import {
  NOTHING_TO_UNDO,
  type Reversion,
  type UndoObstacle,
  type UndoPlan,
  planUndo,
  withoutRefused,
} from '../../domain/content/undo-plan.ts';
import type { CommandContext } from '../../domain/context.ts';
import { isAppError } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import { deleteEntry } from './delete-entry.ts';
import { entryCommandBase } from './entry-command-base.ts';
import { NO_ENTRY, evolveEntry } from './fold-entry.ts';
import { type EntryDependencies, runEntryCommand } from './run-entry-command.ts';
import { undeleteEntry } from './undelete-entry.ts';

/** Returns the live content type of an entry's event. */
export type TypeOfEvent = (event: RecordedEvent) => Promise<ContentType | undefined>;

/** The current state of an entry of a batch, and what undoing the batch means for it. */
export type EntryUndo = {
  readonly id: string;
  /** Current name of the content type; for a deleted type its name at the time of the event. */
  readonly schema: string;
  /** Undefined when the content type is deleted; then nothing can be written. */
  readonly found: { readonly type: ContentType; readonly entry: EntryState } | undefined;
  readonly plan: UndoPlan;
};

export type PlanEntryUndoInput = {
  readonly stream: string;
  readonly typeOf: TypeOfEvent;
  /** Whether an event belongs to the batch. */
  readonly contains: (event: RecordedEvent) => boolean;
};

/**
 * Reads an entry's whole stream and plans the undo under the current rules. Unique values and the targets of relations,
 * which only the database knows, are not checked.
 * @returns undefined when the stream holds no events
 */
export async function planEntryUndo(
  { stream, typeOf, contains }: PlanEntryUndoInput,
  context: CommandContext,
  { eventStore }: Pick<EntryDependencies, 'eventStore'>,
): Promise<EntryUndo | undefined> {
  let at = NO_ENTRY;
  let trace: BatchTrace = NO_TRACE;
  let type: ContentType | undefined;
  for await (const event of eventStore.readStream(stream)) {
    type ??= await typeOf(event);
    if (!type) return undoWithoutType(event);
    const next = evolveEntry(at, event, type);
    const { actor, occurred_at } = event.metadata;
    trace = traceEvent(trace, {
      definition: type.definition,
      before: at.state,
      after: next.state,
      event: { version: event.revision + 1, actor, at: occurred_at, ofBatch: contains(event) },
    });
    at = next;
  }
  const entry = at.state;
  if (!type || !entry) return undefined;
  const plan = planUndo(type.definition, trace, entry);
  const basis = { id: entry.id, schema: type.name, found: { type, entry } };
  if (plan.fields.length === 0) return { ...basis, plan };
  const base = entryCommandBase({ type, id: entry.id }, context);
  const checked = checkReversions({ ...entry, deleted: false }, base, plan.fields);
  return { ...basis, plan: withoutRefused(plan, checked) };
}

function undoWithoutType(event: RecordedEvent): EntryUndo {
  return {
    id: parseStream(event.stream)?.id ?? '',
    schema: parseEntryEvent(event).data.schema,
    found: undefined,
    plan: { ...NOTHING_TO_UNDO, obstacles: [{ reason: 'refused', message: 'the content type is gone' }] },
  };
}

export type EntryUndone = {
  readonly plan: UndoPlan;
  /** Position of the last event; undefined when nothing was written. */
  readonly position: GlobalPosition | undefined;
  /** The undo was refused, but may succeed after other entries of the batch were undone. */
  readonly isRetryable: boolean;
};

export type ApplyEntryUndoInput = {
  readonly type: ContentType;
  readonly entry: EntryState;
  readonly plan: UndoPlan;
  /**
   * Skips only the fields that a refusal names. Otherwise a refusal of one field keeps all fields from being reverted.
   */
  readonly lenient: boolean;
};

/**
 * Writes the undo of an entry. It expects the version that the plan was made for. Refused fields are returned as
 * obstacles.
 * @throws errors other than refusals of the entry, such as `outcome_unknown`
 */
export async function applyEntryUndo(
  { type, entry, plan, lenient }: ApplyEntryUndoInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryUndone> {
  const { id } = entry;
  let position: GlobalPosition | undefined;
  let version = entry.version;
  let fields = plan.fields;
  try {
    if (plan.action === 'delete') {
      const outcome = await deleteEntry({ type, id, versions: [version] }, context, dependencies);
      return { plan, position: outcome.position, isRetryable: false };
    }
    if (plan.action === 'undelete') {
      const outcome = await undeleteEntry({ type, id, versions: [version], fromHistory: true }, context, dependencies);
      position = outcome.position;
      version = outcome.entry.version;
      const lost = lostValues(type, entry, outcome.entry);
      fields = [...fields, ...lost.filter((value) => !fields.some(({ field }) => field === value.field))];
    }
  } catch (error) {
    const message = messageOfRefusal(error);
    return {
      plan: { ...NOTHING_TO_UNDO, obstacles: [...plan.obstacles, { reason: 'refused', message }] },
      position,
      isRetryable: true,
    };
  }
  let obstacles: readonly UndoObstacle[] = [];
  while (fields.length > 0) {
    const attempted = fields;
    try {
      const outcome = await runEntryCommand(
        {
          type,
          id,
          decide: (state, base) => revertEntry(state, { ...base, versions: [version], fields: attempted }),
        },
        context,
        dependencies,
      );
      position = outcome.position ?? position;
      break;
    } catch (error) {
      const refused = refusedFields(error, { fields, lenient });
      obstacles = [...obstacles, ...refused];
      fields = fields.filter(({ field }) => !refused.some((obstacle) => obstacle.field === field));
    }
  }
  return { plan: withoutRefused(plan, { fields, obstacles }), position, isRetryable: obstacles.length > 0 };
}

/** An obstacle for each field that a refusal applies to; at least one. */
function refusedFields(
  error: unknown,
  { fields, lenient }: { readonly fields: readonly Reversion[]; readonly lenient: boolean },
): readonly UndoObstacle[] {
  const message = messageOfRefusal(error);
  const problems = isAppError(error) ? (error.fields ?? []) : [];
  const refused = fields.filter(
    ({ field }) => !lenient || problems.length === 0 || problems.some((problem) => problem.field === field),
  );
  return (refused.length > 0 ? refused : fields).map(({ field }) => ({
    field,
    reason: 'refused',
    message: problems.find((problem) => problem.field === field)?.message ?? message,
  }));
}

/** Values that the undeletion could not restore, because the target of a relation does not exist, or not yet. */
function lostValues({ definition }: ContentType, past: EntryState, restored: EntryState): readonly Reversion[] {
  return storedFields(definition)
    .map((field) => ({
      field: field.key,
      from: shownValue(field, restored.fields),
      to: shownValue(field, past.fields),
    }))
    .filter(({ from, to }) => !sameJson(from, to));
}

/** @throws the error when it is not a refusal of the entry; then it is unknown what was written */
function messageOfRefusal(error: unknown): string {
  if (isAppError(error) && error.status < 500) return error.message;
  throw error;
}
