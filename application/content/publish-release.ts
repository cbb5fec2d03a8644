import type { RefusedItem, ReleaseEvent, ReleaseItem } from '../../domain/content/release-events.ts';
import { type Release, type ReleaseState, requireEditableRelease } from '../../domain/content/release.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { isSameActor } from '../../domain/event.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { loadRelease } from './load-release.ts';
import { type ReleasePublisher, planRelease } from './plan-release.ts';
import { type PublishedRelease, resumeSteps, startSteps } from './publish-in-steps.ts';
import { type ReleaseDependencies, releaseStream } from './release-dependencies.ts';

export type PublishReleaseInput = {
  readonly id: string;
  /** Whether a caller asks for the publication, or the schedule starts it. */
  readonly by: 'caller' | 'schedule';
  /** Roles of the actor in the context. */
  readonly roles: readonly string[];
};

/** The outcome of one item, as reports show it. */
export type ReportedItem = {
  readonly entry_id: string;
  readonly action: string;
  readonly ok: boolean;
  readonly error?: string;
};

/** Decisions before the publication gives up under contention. */
const MAX_DECISIONS = 20;

/**
 * Publishes all items of a release or none. The actor and the person who set the items both need the right to publish.
 * Every item is decided first; then the events of all entries and of the release are one append. After a conflict it
 * decides again. On an event store without atomic appends to several streams it publishes in steps; readers may then
 * see a part of the release for a moment.
 *
 * With `by: 'schedule'` a refusal makes the release `failed`, and a release that is no longer due is not changed, so
 * several processes may publish due releases at the same time.
 * @throws `release_not_found`, `release_published`, `release_in_progress`; `release_refused` with the `report`;
 *   `store_unavailable`
 */
export function publishRelease(
  { id, by, roles }: PublishReleaseInput,
  context: CommandContext,
  dependencies: ReleaseDependencies,
): Promise<PublishedRelease> {
  return dependencies.exclusive(`release/${context.tenant}/${id}`, async () => {
    for (let decision = 1; ; decision += 1) {
      const at = await loadRelease({ tenant: context.tenant, id }, dependencies);
      const publisher = await publisherOf(at.state);
      // This process holds the lock, so the process that started the publication has ended.
      if (at.state?.status === 'publishing')
        return report(
          at.state,
          await resumeSteps({ id, at: { ...at, state: at.state }, publisher }, context, dependencies),
        );
      if (by === 'schedule' && !isDue(at.state, context)) return { position: undefined, refused: [] };
      const release = requireEditableRelease(at.state);
      try {
        return await attempt({ release, revision: at.revision, publisher });
      } catch (error) {
        if (!hasCode(error, 'conflict')) throw error;
        if (decision === MAX_DECISIONS) throw refusal('store_unavailable', { cause: error });
      }
    }
  });

  async function attempt({
    release,
    revision,
    publisher,
  }: {
    readonly release: Release;
    readonly revision: number;
    readonly publisher: ReleasePublisher;
  }): Promise<PublishedRelease> {
    const { eventStore } = dependencies;
    const { transitions, refused } = await planRelease({ items: release.items, publisher }, context, dependencies);
    const stream = releaseStream(context.tenant, id);
    if (refused.length > 0 || release.items.length === 0) {
      if (by === 'caller') throw releaseRefusal(release.items, refused);
      const failed: ReleaseEvent = { type: 'ReleasePublicationFailed', data: { refused } };
      const { position } = await appendOnce(() =>
        eventStore.append(stream, [toNewEvent(failed, context)], { expected: revision }),
      );
      return { position, refused };
    }
    const appendMany = eventStore.appendMany?.bind(eventStore);
    if (!eventStore.capabilities.atomicMultiStream || !appendMany) {
      const steps = { id, at: { state: release, revision }, publisher, planned: transitions };
      return report(release, await startSteps(steps, context, dependencies));
    }
    const published: ReleaseEvent = { type: 'ReleasePublished', data: {} };
    const writes: readonly StreamWrite[] = [
      ...transitions.map(({ stream: entry, expected, event }) => ({ stream: entry, expected, events: [event] })),
      { stream, expected: revision, events: [toNewEvent(published, context)] },
    ];
    return { position: (await appendOnce(() => appendMany(writes))).at(-1)?.position, refused: [] };
  }

  /** Another person who set the items needs the right too, with the current roles. An unknown person has none. */
  async function publisherOf(state: ReleaseState): Promise<ReleasePublisher> {
    const setter = state?.itemsSetBy;
    const rolesOfSetter =
      setter === undefined || isSameActor(setter, context.actor)
        ? []
        : [(await dependencies.rolesOf(context.tenant, setter)) ?? []];
    return { releaseId: id, rolesOfEach: [roles, ...rolesOfSetter] };
  }

  function report(release: Release, outcome: PublishedRelease): PublishedRelease {
    if (outcome.refused.length > 0 && by === 'caller') throw releaseRefusal(release.items, outcome.refused);
    return outcome;
  }
}

/** The outcome of each item of a release. */
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

function releaseRefusal(items: readonly ReleaseItem[], refused: readonly RefusedItem[]): Error {
  if (items.length === 0)
    return refusal('release_refused', { message: 'the release has no entries', body: { report: [] } });
  return refusal('release_refused', { body: { report: reportOf(items, refused) } });
}
