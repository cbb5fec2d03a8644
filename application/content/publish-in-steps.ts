import type { EntryTransition } from '../../domain/content/entry.ts';
import type { RefusedItem, ReleaseEvent, ReleaseTransition } from '../../domain/content/release-events.ts';
import type { Release } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import { type PlannedTransition, type ReleasePublisher, planItem, planTransition } from './plan-release.ts';
import { type ReleaseDependencies, releaseStream } from './release-dependencies.ts';

export type PublishedRelease = {
  /** Position of the release's last event; undefined when there was nothing to do. */
  readonly position: GlobalPosition | undefined;
  readonly refused: readonly RefusedItem[];
};

/** A release at a revision of its stream, and who publishes it. */
export type StepwisePublication = {
  readonly id: string;
  readonly at: { readonly state: Release; readonly revision: number };
  readonly publisher: ReleasePublisher;
};

/**
 * Publishes on an event store that appends to one stream at a time. All transitions are recorded first, with the ids of
 * their events, so that each is appended exactly once, also when another process resumes after a crash. When a
 * transition is refused, the transitions before it are reverted.
 * @throws `conflict` before the first transition, when the release has changed
 */
export async function startSteps(
  { id, at, publisher, planned }: StepwisePublication & { readonly planned: readonly PlannedTransition[] },
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<PublishedRelease> {
  const transitions = planned.map(({ item, expected, before, event }): ReleaseTransition => ({
    ...item,
    event_id: event.id,
    expected,
    from: before.status,
  }));
  const event: ReleaseEvent = { type: 'ReleasePublicationStarted', data: { moves: transitions } };
  const { revision } = await append({ id, event, expected: at.revision }, context, dependencies);
  return resumeSteps(
    { id, publisher, at: { state: { ...at.state, status: 'publishing', transitions, refused: [] }, revision } },
    context,
    dependencies,
  );
}

/** Continues an interrupted publication, or its reverting. */
export async function resumeSteps(
  { id, at, publisher }: StepwisePublication,
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<PublishedRelease> {
  const { transitions } = at.state;
  const record = (event: ReleaseEvent, expected: number) => append({ id, event, expected }, context, dependencies);
  let { refused } = at.state;
  let { revision } = at;
  if (refused.length === 0) {
    refused = await applyTransitions({ transitions, publisher }, context, dependencies);
    if (refused.length === 0) {
      const { position } = await record({ type: 'ReleasePublished', data: {} }, revision);
      return { position, refused };
    }
    ({ revision } = await record({ type: 'ReleasePublicationReverting', data: { refused } }, revision));
  }
  for (const transition of transitions.toReversed())
    await revertTransition({ transition, releaseId: id }, context, dependencies);
  const { position } = await record({ type: 'ReleasePublicationFailed', data: { refused } }, revision);
  return { position, refused };
}

/** @returns the first item that is refused; an empty list when all transitions were applied */
async function applyTransitions(
  {
    transitions,
    publisher,
  }: { readonly transitions: readonly ReleaseTransition[]; readonly publisher: ReleasePublisher },
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<readonly RefusedItem[]> {
  for (const transition of transitions) {
    const refused = await applyTransition({ transition, publisher }, context, dependencies);
    if (refused) return [refused];
  }
  return [];
}

/** Appends a transition once. After a conflict with a change of the entry it decides again, without a limit. */
async function applyTransition(
  { transition, publisher }: { readonly transition: ReleaseTransition; readonly publisher: ReleasePublisher },
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<RefusedItem | undefined> {
  const stream = entryStream(transition, context);
  const item = { entry_id: transition.entry_id, action: transition.action };
  for (;;) {
    if ((await eventIdsSince({ stream, transition }, dependencies)).includes(transition.event_id)) return undefined;
    const planned = await planItem({ item, publisher }, context, dependencies);
    if ('error' in planned) return planned;
    const event: NewEvent = { ...planned.event, id: transition.event_id };
    try {
      await appendOnce(() => dependencies.eventStore.append(stream, [event], { expected: planned.expected }));
      return undefined;
    } catch (error) {
      if (!hasCode(error, 'conflict')) throw error;
    }
  }
}

/** Reverting must succeed even when a person has lost the right to publish in the meantime. */
const REVERTING_ROLES = [['super_admin']];

/** Reverts a transition, if no other change of the entry followed it. */
async function revertTransition(
  { transition, releaseId }: { readonly transition: ReleaseTransition; readonly releaseId: string },
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<void> {
  const stream = entryStream(transition, context);
  const publisher = { releaseId, rolesOfEach: REVERTING_ROLES };
  let last = transition.event_id;
  for (const inverse of inverseOf(transition)) {
    if ((await eventIdsSince({ stream, transition }, dependencies)).at(-1) !== last) return;
    try {
      const planned = await planTransition(
        { entryId: transition.entry_id, transition: inverse, publisher },
        context,
        dependencies,
      );
      await appendOnce(() => dependencies.eventStore.append(stream, [planned.event], { expected: planned.expected }));
      last = planned.event.id;
    } catch (error) {
      if (!isAppError(error) || error.status >= 500) throw error;
      return;
    }
  }
}

function inverseOf({ action, from }: ReleaseTransition): readonly EntryTransition[] {
  switch (action) {
    case 'publish':
      return ['unpublish'];
    case 'unpublish':
      return ['publish'];
    case 'archive':
      return from === 'published' ? ['unarchive', 'publish'] : ['unarchive'];
  }
}

/** Ids of the entry's events after the revision that the transition was decided on. */
async function eventIdsSince(
  { stream, transition: { expected } }: { readonly stream: string; readonly transition: ReleaseTransition },
  { eventStore }: ReleaseDependencies,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of eventStore.readStream(stream, { from: expected + 1 })) ids.push(id);
  return ids;
}

function entryStream({ entry_id: id }: ReleaseTransition, { tenant }: CommandContext): string {
  return streamName({ category: 'entry', tenant, id });
}

function append(
  { id, event, expected }: { readonly id: string; readonly event: ReleaseEvent; readonly expected: number },
  context: CommandContext,
  { eventStore }: ReleaseDependencies,
): Promise<{ readonly revision: number; readonly position: GlobalPosition }> {
  const events = [toNewEvent(event, context)];
  return appendOnce(() => eventStore.append(releaseStream(context.tenant, id), events, { expected }));
}
