import type { JsonObject } from '../json.ts';
import { hasCode, isAppError } from '../errors.ts';
import type { GoingBack, InTheWay } from './undo-plan.ts';
import { SLUG, STATUS } from './batch-trace.ts';
import type { EntryCommand, EntryExpectation, EntryFact, EntryMove } from './entry.ts';
import { changeEntry, entryDecider, moveEntry } from './entry.ts';
import type { EntryState } from './entry-state.ts';
import type { EntryStatus } from './events.ts';

/** Ways from one status to another. */
const WAYS: Readonly<Record<EntryStatus, Readonly<Record<EntryStatus, readonly EntryMove[]>>>> = {
  draft: { draft: [], published: ['publish'], archived: ['archive'] },
  published: { draft: ['unpublish'], published: [], archived: ['archive'] },
  archived: { draft: ['unarchive'], published: ['unarchive', 'publish'], archived: [] },
};

/**
 * Takes aspects of an entry back, under today's rules: fields and slug by one change, the status by moves.
 * @throws `entry_not_found`, `entry_changed`, `validation_failed`, `invalid_status_transition`
 */
export function revertEntry(state: EntryState | undefined, command: EntryCommand & EntryExpectation & { readonly fields: readonly GoingBack[] }): readonly EntryFact[] {
  const { fields, ...plain } = command;
  const data: JsonObject = Object.fromEntries(fields.filter(({ field }) => field !== STATUS && field !== SLUG).map(({ field, to }) => [field, to]));
  const slug = fields.find(({ field }) => field === SLUG)?.to;
  const facts = [...changeEntry(state, { ...plain, data, ...(typeof slug === 'string' ? { slug } : {}) })];
  let entry = facts.reduce(entryDecider.evolve, state);
  const status = fields.find(({ field }) => field === STATUS)?.to;
  for (const move of entry && isStatus(status) ? WAYS[entry.status][status] : []) {
    const moved = moveEntry(entry, { ...plain, versions: undefined, move });
    facts.push(...moved);
    entry = moved.reduce(entryDecider.evolve, entry);
  }
  return facts;
}

/** Which of the aspects today's rules let go back, and what they say of the others. */
export function sortOut(state: EntryState, command: EntryCommand, wanted: readonly GoingBack[]): { readonly fields: readonly GoingBack[]; readonly inTheWay: readonly InTheWay[] } {
  const stuck = (field: string, message: string): InTheWay => ({ field, reason: 'refused', message });
  const inTheWay: InTheWay[] = [];
  let fields = wanted;
  const drop = (field: string, message: string): void => {
    fields = fields.filter((aspect) => aspect.field !== field);
    inTheWay.push(stuck(field, message));
  };
  for (const { field, to } of wanted) if (field === SLUG && to === null) drop(SLUG, 'a slug can not be taken away');
  if (command.definition.with_draft_publish !== true && fields.some(({ field }) => field === STATUS)) drop(STATUS, 'the content type has no drafts any more');
  while (fields.length > 0) {
    try {
      revertEntry(state, { ...command, fields });
      break;
    } catch (error) {
      const refused = hasCode(error, 'validation_failed') && isAppError(error) ? (error.fields ?? []).filter(({ field }) => fields.some((aspect) => aspect.field === field)) : [];
      for (const { field, message } of refused) drop(field, message);
      // A rule that names no aspect of these stands in the way of them all.
      if (refused.length === 0) for (const { field } of fields) drop(field, error instanceof Error ? error.message : 'refused');
    }
  }
  return { fields, inTheWay };
}

function isStatus(value: unknown): value is EntryStatus {
  return value === 'draft' || value === 'published' || value === 'archived';
}
