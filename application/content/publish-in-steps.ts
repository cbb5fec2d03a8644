import type { RefusedItem, Release, ReleaseEvent, ReleaseMove } from '../../domain/content/release.ts';
import type { EntryMove } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { PlannedMove, ReleaseMover } from './plan-release.ts';
import { planItem, planMove } from './plan-release.ts';
import type { PublishedRelease } from './publish-release.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';
import { releaseStream } from './release-dependencies.ts';

/** A release at a revision of its stream, and who publishes it. */
export type Steps = { readonly id: string; readonly at: { readonly state: Release; readonly revision: number }; readonly mover: ReleaseMover };

/**
 * Publishes on an event store that appends to one stream at a time: the steps are written down first, with the ids of their events, so that whoever
 * goes on after a crash does each once. The first that is refused by then has those before it taken back.
 * @throws `conflict` before the first step, when the release has changed
 */
export async function startSteps({ id, at, mover }: Steps, planned: readonly PlannedMove[], context: CommandContext, dependencies: ReleaseDependencies): Promise<PublishedRelease> {
  const moves = planned.map(({ item, expected, before, event }): ReleaseMove => ({ ...item, event_id: event.id, expected, from: before.status }));
  const started: ReleaseEvent = { type: 'ReleasePublicationStarted', data: { moves } };
  const { revision } = await append(id, [started], at.revision, context, dependencies);
  return goOnInSteps({ id, mover, at: { state: { ...at.state, status: 'publishing', moves, refused: [] }, revision } }, context, dependencies);
}

/** Goes on where a publication in steps was left, forwards or backwards. */
export async function goOnInSteps({ id, at, mover }: Steps, context: CommandContext, dependencies: ReleaseDependencies): Promise<PublishedRelease> {
  const { moves } = at.state;
  let { refused } = at.state;
  let { revision } = at;
  if (refused.length === 0) {
    refused = await forwards(moves, mover, context, dependencies);
    if (refused.length === 0) return { position: (await append(id, [{ type: 'ReleasePublished', data: {} }], revision, context, dependencies)).position, refused };
    ({ revision } = await append(id, [{ type: 'ReleasePublicationReverting', data: { refused } }], revision, context, dependencies));
  }
  for (const move of moves.toReversed()) await takeBack(move, id, context, dependencies);
  const { position } = await append(id, [{ type: 'ReleasePublicationFailed', data: { refused } }], revision, context, dependencies);
  return { position, refused };
}

/** @returns the first item that is refused; empty when all are done */
async function forwards(moves: readonly ReleaseMove[], mover: ReleaseMover, context: CommandContext, dependencies: ReleaseDependencies): Promise<readonly RefusedItem[]> {
  for (const move of moves) {
    const refused = await doMove(move, mover, context, dependencies);
    if (refused) return [refused];
  }
  return [];
}

/** Somebody's change since the decision is decided on again, as often as it takes. */
async function doMove(move: ReleaseMove, mover: ReleaseMover, context: CommandContext, dependencies: ReleaseDependencies): Promise<RefusedItem | undefined> {
  const stream = entryStream(move, context);
  for (;;) {
    if ((await eventsSince(stream, move, dependencies)).some((event) => event.id === move.event_id)) return undefined;
    const planned = await planItem({ entry_id: move.entry_id, action: move.action }, mover, context, dependencies);
    if ('error' in planned) return planned;
    const event: NewEvent = { ...planned.event, id: move.event_id };
    try {
      await appendOnce(() => dependencies.eventStore.append(stream, [event], { expected: planned.expected }));
      return undefined;
    } catch (error) {
      if (!hasCode(error, 'conflict')) throw error;
    }
  }
}

/** Rights that were lost since must not leave a part in force. */
const RIGHTS_TO_TAKE_BACK = ['super_admin'];

/** Takes a step back where it is the last thing that happened to its entry; whoever changed the entry since has the last word. */
async function takeBack(move: ReleaseMove, releaseId: string, context: CommandContext, dependencies: ReleaseDependencies): Promise<void> {
  const stream = entryStream(move, context);
  let last = move.event_id;
  for (const back of inverseOf(move)) {
    if ((await eventsSince(stream, move, dependencies)).at(-1)?.id !== last) return;
    try {
      const planned = await planMove(move.entry_id, back, { releaseId, roles: RIGHTS_TO_TAKE_BACK }, context, dependencies);
      await appendOnce(() => dependencies.eventStore.append(stream, [planned.event], { expected: planned.expected }));
      last = planned.event.id;
    } catch (error) {
      if (!isAppError(error) || error.status >= 500) throw error;
      return;
    }
  }
}

function inverseOf({ action, from }: ReleaseMove): readonly EntryMove[] {
  switch (action) {
    case 'publish':
      return ['unpublish'];
    case 'unpublish':
      return ['publish'];
    case 'archive':
      return from === 'published' ? ['unarchive', 'publish'] : ['unarchive'];
  }
}

async function eventsSince(stream: string, { expected }: ReleaseMove, { eventStore }: ReleaseDependencies): Promise<readonly { readonly id: string }[]> {
  const events: { readonly id: string }[] = [];
  for await (const { id } of eventStore.readStream(stream, { from: expected + 1 })) events.push({ id });
  return events;
}

function entryStream({ entry_id: id }: ReleaseMove, { tenant }: CommandContext): string {
  return streamName({ category: 'entry', tenant, id });
}

function append(id: string, events: readonly ReleaseEvent[], expected: number, context: CommandContext, { eventStore }: ReleaseDependencies): Promise<{ readonly revision: number; readonly position: GlobalPosition }> {
  const made = events.map((event) => toNewEvent(event, context));
  return appendOnce(() => eventStore.append(releaseStream(context.tenant, id), made, { expected }));
}
