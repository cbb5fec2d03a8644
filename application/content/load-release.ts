import { parseReleaseEvent } from '../../domain/content/release-events.ts';
import { type ReleaseRecord, recordAfter } from '../../domain/content/release-record.ts';
import { type ReleaseState, releaseDecider } from '../../domain/content/release.ts';
import type { Fold } from '../../domain/decider.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { type StateAt, foldStream } from '../fold-stream.ts';
import type { EventStore } from '../ports/event-store.ts';
import { releaseStream } from './release-dependencies.ts';

/** A release according to its stream: the state for decisions, the record for responses. */
export type LoadedRelease = StateAt<ReleaseState> & { readonly record: ReleaseRecord | undefined };

type StateAndRecord = Pick<LoadedRelease, 'state' | 'record'>;

/** Folds a release's stream. */
export async function loadRelease(
  { tenant, id }: { readonly tenant: string; readonly id: string },
  dependencies: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<LoadedRelease> {
  const fold: Fold<StateAndRecord, RecordedEvent> = {
    initialState: () => ({ state: releaseDecider.initialState(), record: undefined }),
    evolve: ({ state, record }, event) => ({
      state: releaseDecider.evolve(state, parseReleaseEvent(event)),
      record: recordAfter(record, id, event),
    }),
  };
  const { state: loaded, revision } = await foldStream(
    { stream: releaseStream(tenant, id), decider: fold, parse: (event) => event },
    dependencies,
  );
  return { ...loaded, revision };
}
