import type { EntryFact } from '../../domain/content/entry.ts';
import { moveEntry } from '../../domain/content/entry.ts';
import type { EntryMove } from '../../domain/content/entry.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RefusedItem, ReleaseItem } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { timestamp } from '../../domain/context.ts';
import { isAppError, refusal } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/event.ts';
import { CONTENT_WRITERS } from '../../domain/identity/roles.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import { foldEntry, NO_ENTRY } from './fold-entry.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';
import { typeOfEntry } from './type-of-entry.ts';

/** Who moves entries, for which release. */
export type ReleaseMover = { readonly releaseId: string; readonly roles: readonly string[] };

/** One move that is allowed on the entry's state of now. */
export type PlannedMove = { readonly item: ReleaseItem; readonly stream: string; readonly expected: number; readonly before: EntryState; readonly event: NewEvent };

export type ReleasePlan = { readonly moves: readonly PlannedMove[]; readonly refused: readonly RefusedItem[] };

export type PlanDependencies = Pick<ReleaseDependencies, 'eventStore' | 'typeById' | 'rows' | 'accessRules'>;

const AT_ONCE = 20;

/** Decides every item on the state of now: is the entry there, may they, does its status allow the move? */
export async function planRelease(items: readonly ReleaseItem[], mover: ReleaseMover, context: CommandContext, dependencies: PlanDependencies): Promise<ReleasePlan> {
  const moves: PlannedMove[] = [];
  const refused: RefusedItem[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    const planned = await Promise.all(items.slice(at, at + AT_ONCE).map((item) => planItem(item, mover, context, dependencies)));
    for (const outcome of planned) {
      if ('error' in outcome) refused.push(outcome);
      else moves.push(outcome);
    }
  }
  return { moves, refused };
}

/** Decides one item on the state of now. */
export async function planItem(item: ReleaseItem, mover: ReleaseMover, context: CommandContext, dependencies: PlanDependencies): Promise<PlannedMove | RefusedItem> {
  try {
    return await planMove(item.entry_id, item.action, mover, context, dependencies).then((move) => ({ item, ...move }));
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return { entry_id: item.entry_id, error: error.message };
  }
}

/** @throws `entry_not_found`, `permission_denied`, `invalid_status_transition` */
export async function planMove(entryId: string, move: EntryMove, { releaseId, roles }: ReleaseMover, context: CommandContext, dependencies: PlanDependencies): Promise<Omit<PlannedMove, 'item'>> {
  const { tenant, actor } = context;
  const type = await typeOfEntry({ tenant, id: entryId }, dependencies);
  if (!type) throw refusal('entry_not_found');
  const mayWrite = roles.some((role) => CONTENT_WRITERS.includes(role));
  if (!mayWrite || !dependencies.accessRules.decide({ tenant, roles, schema: type.name, action: 'publish' }).allowed) throw refusal('permission_denied');
  const stream = streamName({ category: 'entry', tenant, id: entryId });
  const row = await dependencies.rows.load(type, entryId);
  const { state, revision } = await foldEntry(dependencies.eventStore, stream, { from: row ? { state: row, revision: row.version - 1 } : NO_ENTRY, type });
  const command = { entryId, typeId: type.id, typeRevision: type.revision, definition: type.definition, actor, at: timestamp(context), move };
  const [fact] = moveEntry(state, command);
  if (!state || !fact) throw refusal('entry_not_found');
  return { stream, expected: revision, before: state, event: ofRelease(fact, releaseId, context) };
}

/** The event carries the very moment that the decision saw. */
function ofRelease(fact: EntryFact, releaseId: string, context: CommandContext): NewEvent {
  return toNewEvent({ type: fact.type, data: { ...fact.data, release_id: releaseId } }, { ...context, causationId: releaseId, now: () => new Date(fact.at) });
}
