import { chunks } from '../../domain/chunks.ts';
import type { AttributedEntryEvent } from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { type EntryTransition, entryDecider } from '../../domain/content/entry.ts';
import type { RefusedItem, ReleaseItem } from '../../domain/content/release-events.ts';
import type { CommandContext } from '../../domain/context.ts';
import { isAppError, refusal } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/event.ts';
import { CONTENT_WRITERS } from '../../domain/identity/roles.ts';
import { streamName } from '../../domain/stream.ts';
import { toNewEvent } from '../handle-command.ts';
import { entryCommandBase } from './entry-command-base.ts';
import { NO_ENTRY, foldEntry } from './fold-entry.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';
import { typeOfEntry } from './type-of-entry.ts';

/** The release that changes the status of entries, and the rights that decide whether it may. */
export type ReleasePublisher = {
  readonly releaseId: string;
  /** The roles of each person who stands for the publication. All of them need the right to publish an entry. */
  readonly rolesOfEach: readonly (readonly string[])[];
};

/** A transition that the entry's current state allows. */
export type PlannedTransition = {
  readonly item: ReleaseItem;
  readonly stream: string;
  /** Revision of the stream that the transition was decided on. */
  readonly expected: number;
  readonly before: EntryState;
  readonly event: NewEvent;
};

export type ReleasePlan = {
  readonly transitions: readonly PlannedTransition[];
  readonly refused: readonly RefusedItem[];
};

export type PlanReleaseDependencies = Pick<
  ReleaseDependencies,
  'eventStore' | 'typeById' | 'entryRows' | 'accessRules'
>;

/** Items that are planned at the same time. */
const AT_ONCE = 20;

/**
 * Decides every item on the current state of its entry: whether it exists, whether the publisher and the person who set
 * the items may change its status, and whether the status allows the transition.
 */
export async function planRelease(
  { items, publisher }: { readonly items: readonly ReleaseItem[]; readonly publisher: ReleasePublisher },
  context: CommandContext,
  dependencies: PlanReleaseDependencies,
): Promise<ReleasePlan> {
  const transitions: PlannedTransition[] = [];
  const refused: RefusedItem[] = [];
  for (const chunk of chunks(items, AT_ONCE)) {
    const planned = await Promise.all(chunk.map((item) => planItem({ item, publisher }, context, dependencies)));
    for (const outcome of planned) {
      if ('error' in outcome) refused.push(outcome);
      else transitions.push(outcome);
    }
  }
  return { transitions, refused };
}

/** Decides one item on the current state of its entry. */
export async function planItem(
  { item, publisher }: { readonly item: ReleaseItem; readonly publisher: ReleasePublisher },
  context: CommandContext,
  dependencies: PlanReleaseDependencies,
): Promise<PlannedTransition | RefusedItem> {
  try {
    const transition = await planTransition(
      { entryId: item.entry_id, transition: item.action, publisher },
      context,
      dependencies,
    );
    return { item, ...transition };
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return { entry_id: item.entry_id, error: error.message };
  }
}

/** @throws `entry_not_found`, `permission_denied`, `invalid_status_transition` */
export async function planTransition(
  {
    entryId,
    transition,
    publisher: { releaseId, rolesOfEach },
  }: { readonly entryId: string; readonly transition: EntryTransition; readonly publisher: ReleasePublisher },
  context: CommandContext,
  dependencies: PlanReleaseDependencies,
): Promise<Omit<PlannedTransition, 'item'>> {
  const { tenant } = context;
  const type = await typeOfEntry({ tenant, id: entryId }, dependencies);
  if (!type) throw refusal('entry_not_found');
  const mayPublish = (roles: readonly string[]): boolean =>
    roles.some((role) => CONTENT_WRITERS.includes(role)) &&
    dependencies.accessRules.decide({ tenant, roles, schema: type.name, action: 'publish' }).allowed;
  if (!rolesOfEach.every(mayPublish)) throw refusal('permission_denied');
  const stream = streamName({ category: 'entry', tenant, id: entryId });
  const row = await dependencies.entryRows.load(type, entryId);
  const from = row ? { state: row, revision: row.version - 1 } : NO_ENTRY;
  const { state, revision } = await foldEntry({ stream, type, from }, dependencies);
  const [event] = entryDecider.decide(state, {
    ...entryCommandBase({ type, id: entryId }, context),
    kind: 'transition',
    transition,
  });
  if (!state || !event) throw refusal('entry_not_found');
  return { stream, expected: revision, before: state, event: ofRelease(event, releaseId, context) };
}

/** The metadata carries the time that the decision chose. */
function ofRelease(event: AttributedEntryEvent, releaseId: string, context: CommandContext): NewEvent {
  return toNewEvent(
    { type: event.type, data: { ...event.data, release_id: releaseId } },
    { ...context, causationId: releaseId, now: () => new Date(event.at) },
  );
}
