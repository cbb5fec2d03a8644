import { hasCode, isAppError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { SLUG, STATUS } from './batch-trace.ts';
import type { AttributedEntryEvent, EntryStatus } from './entry-events.ts';
import type { EntryState } from './entry-state.ts';
import { type EntryCommandBase, type EntryTransition, entryDecider } from './entry.ts';
import type { Reversion, UndoObstacle } from './undo-plan.ts';

/** The transitions that lead from one status to another. */
const TRANSITIONS_BETWEEN: Readonly<Record<EntryStatus, Readonly<Record<EntryStatus, readonly EntryTransition[]>>>> = {
  draft: { draft: [], published: ['publish'], archived: ['archive'] },
  published: { draft: ['unpublish'], published: [], archived: ['archive'] },
  archived: { draft: ['unarchive'], published: ['unarchive', 'publish'], archived: [] },
};

export type RevertEntry = EntryCommandBase & {
  readonly fields: readonly Reversion[];
  /** The command on any other version is refused with `entry_changed`. */
  readonly versions?: readonly number[] | undefined;
};

/**
 * Reverts aspects of an entry under the current rules: fields and slug by one change, the status by transitions.
 * @throws `entry_not_found`, `entry_changed`, `validation_failed`, `invalid_status_transition`
 */
export function revertEntry(state: EntryState | undefined, command: RevertEntry): readonly AttributedEntryEvent[] {
  const { fields, versions, ...base } = command;
  const data: JsonObject = Object.fromEntries(
    fields.filter(({ field }) => field !== STATUS && field !== SLUG).map(({ field, to }) => [field, to]),
  );
  const slug = fields.find(({ field }) => field === SLUG)?.to;
  const events = [
    ...entryDecider.decide(state, {
      ...base,
      kind: 'change',
      versions,
      data,
      ...(typeof slug === 'string' ? { slug } : {}),
    }),
  ];
  let entry = events.reduce(entryDecider.evolve, state);
  const status = fields.find(({ field }) => field === STATUS)?.to;
  for (const transition of entry && isStatus(status) ? TRANSITIONS_BETWEEN[entry.status][status] : []) {
    const moved = entryDecider.decide(entry, { ...base, kind: 'transition', transition });
    events.push(...moved);
    entry = moved.reduce(entryDecider.evolve, entry);
  }
  return events;
}

/** Separates the reversions that the current rules allow from those that they refuse. */
export function checkReversions(
  state: EntryState,
  base: EntryCommandBase,
  reversions: readonly Reversion[],
): { readonly fields: readonly Reversion[]; readonly obstacles: readonly UndoObstacle[] } {
  const obstacles: UndoObstacle[] = [];
  let fields = reversions;
  const refuse = (field: string, message: string): void => {
    fields = fields.filter((aspect) => aspect.field !== field);
    obstacles.push({ field, reason: 'refused', message });
  };
  for (const { field, to } of reversions)
    if (field === SLUG && to === null) refuse(SLUG, 'a slug cannot be taken away');
  if (base.definition.with_draft_publish !== true && fields.some(({ field }) => field === STATUS))
    refuse(STATUS, 'the content type has no drafts any more');
  while (fields.length > 0) {
    try {
      revertEntry(state, { ...base, fields });
      break;
    } catch (error) {
      const refused =
        hasCode(error, 'validation_failed') && isAppError(error)
          ? (error.fields ?? []).filter(({ field }) => fields.some((aspect) => aspect.field === field))
          : [];
      for (const { field, message } of refused) refuse(field, message);
      // The refusal names none of these fields, so it applies to all of them.
      if (refused.length === 0)
        for (const { field } of fields) refuse(field, error instanceof Error ? error.message : 'refused');
    }
  }
  return { fields, obstacles };
}

function isStatus(value: unknown): value is EntryStatus {
  return value === 'draft' || value === 'published' || value === 'archived';
}
