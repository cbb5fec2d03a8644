import { parseReleaseEvent, releaseDecider } from '../../domain/content/release.ts';
import type { ReleaseState } from '../../domain/content/release.ts';
import type { ReleaseRecord } from '../../domain/content/release-record.ts';
import { recordAfter } from '../../domain/content/release-record.ts';
import type { StateAt } from '../handle-command.ts';
import type { EventStore } from '../ports/event-store.ts';
import { releaseStream } from './release-dependencies.ts';

/** A release as its stream has it now: for decisions, and as it is shown. */
export type LoadedRelease = StateAt<ReleaseState> & { readonly record: ReleaseRecord | undefined };

/** Folds a release's stream. */
export async function loadRelease(id: string, tenant: string, { eventStore }: { readonly eventStore: EventStore }): Promise<LoadedRelease> {
  let at: LoadedRelease = { state: releaseDecider.initialState(), record: undefined, revision: -1 };
  for await (const event of eventStore.readStream(releaseStream(tenant, id))) {
    at = { state: releaseDecider.evolve(at.state, parseReleaseEvent(event)), record: recordAfter(at.record, id, event), revision: event.revision };
  }
  return at;
}
