import type { RefusedItem, Release, ReleaseEvent, ReleaseItem, ReleaseState } from '../../domain/content/release.ts';
import { openRelease } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { loadRelease } from './load-release.ts';
import { planRelease } from './plan-release.ts';
import type { ReleaseMover } from './plan-release.ts';
import { goOnInSteps, startSteps } from './publish-in-steps.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';
import { releaseStream } from './release-dependencies.ts';

/** Who asks for the publication: a person, or the time that one has set. */
export type ReleasePublication = { readonly id: string; readonly by: 'caller' | 'schedule'; readonly roles: readonly string[] };

/** Where the publication stands in the log; undefined when there was nothing to do any more. */
export type PublishedRelease = { readonly position: GlobalPosition | undefined; readonly refused: readonly RefusedItem[] };

/** What became of one item, as reports show it. */
export type ReportedItem = { readonly entry_id: string; readonly action: string; readonly ok: boolean; readonly error?: string };

/** Decisions before it gives up under contention. */
const MAX_ROUNDS = 20;

/**
 * Publishes a release, all of it or nothing (spec 4 A, releases). Every item is decided first; then all events are one append, together with the
 * release's own, so that a crash leaves all or nothing. A conflict is decided again. On an event store without such appends it goes in steps that are
 * resumed after a crash and taken back when one is refused: there readers may see a part for a moment.
 *
 * By schedule a refusal becomes the status `failed`, and what is not due any more is left alone: several processes may try, one does it.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `release_refused` with the `report`; `store_unavailable`
 */
export function publishRelease(publication: ReleasePublication, context: CommandContext, dependencies: ReleaseDependencies): Promise<PublishedRelease> {
  const { id, by, roles } = publication;
  const mover: ReleaseMover = { releaseId: id, roles };
  return dependencies.exclusive(`release/${context.tenant}/${id}`, async () => {
    for (let round = 1; ; round += 1) {
      const at = await loadRelease(id, context.tenant, dependencies);
      // Nobody else is at it, so whoever was is dead.
      if (at.state?.status === 'publishing') return settle(at.state, await goOnInSteps({ id, at: { ...at, state: at.state }, mover }, context, dependencies));
      if (by === 'schedule' && !isDue(at.state, context)) return { position: undefined, refused: [] };
      const release = openRelease(at.state);
      try {
        return await attempt({ release, revision: at.revision });
      } catch (error) {
        if (!hasCode(error, 'conflict')) throw error;
        if (round === MAX_ROUNDS) throw refusal('store_unavailable', { cause: error });
      }
    }
  });

  async function attempt({ release, revision }: { readonly release: Release; readonly revision: number }): Promise<PublishedRelease> {
    const { eventStore } = dependencies;
    const { moves, refused } = await planRelease(release.items, mover, context, dependencies);
    const stream = releaseStream(context.tenant, id);
    if (refused.length > 0 || release.items.length === 0) {
      if (by === 'caller') throw refuse(release.items, refused);
      const failed: ReleaseEvent = { type: 'ReleasePublicationFailed', data: { refused } };
      const { position } = await appendOnce(() => eventStore.append(stream, [toNewEvent(failed, context)], { expected: revision }));
      return { position, refused };
    }
    const appendMany = eventStore.appendMany?.bind(eventStore);
    if (!eventStore.capabilities.atomicMultiStream || !appendMany) {
      return settle(release, await startSteps({ id, at: { state: release, revision }, mover }, moves, context, dependencies));
    }
    const published: ReleaseEvent = { type: 'ReleasePublished', data: {} };
    const writes: readonly StreamWrite[] = [
      ...moves.map(({ stream: entry, expected, event }) => ({ stream: entry, expected, events: [event] })),
      { stream, expected: revision, events: [toNewEvent(published, context)] },
    ];
    return { position: (await appendOnce(() => appendMany(writes))).at(-1)?.position, refused: [] };
  }

  function settle(release: Release, outcome: PublishedRelease): PublishedRelease {
    if (outcome.refused.length > 0 && by === 'caller') throw refuse(release.items, outcome.refused);
    return outcome;
  }
}

/** What became of each item of a release. */
export function reportOf(items: readonly ReleaseItem[], refused: readonly RefusedItem[]): readonly ReportedItem[] {
  const errors = new Map(refused.map(({ entry_id: entryId, error }) => [entryId, error]));
  return items.map(({ entry_id, action }) => {
    const error = errors.get(entry_id);
    return { entry_id, action, ok: error === undefined, ...(error === undefined ? {} : { error }) };
  });
}

function isDue(state: ReleaseState, { now }: CommandContext): boolean {
  return state?.status === 'scheduled' && state.scheduled_at !== null && state.scheduled_at <= now().toISOString();
}

function refuse(items: readonly ReleaseItem[], refused: readonly RefusedItem[]): Error {
  if (items.length === 0) return refusal('release_refused', { message: 'the release has no entries', body: { report: [] } });
  return refusal('release_refused', { body: { report: reportOf(items, refused) } });
}
