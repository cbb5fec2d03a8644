import type { Fold } from '../domain/decider.ts';
import type { RecordedEvent, StreamRevision } from '../domain/event.ts';
import type { EventStore } from './ports/event-store.ts';

/** A state and the stream revision it was folded to; revision -1 means that the stream is empty. */
export type StateAt<State> = { readonly state: State; readonly revision: StreamRevision };

export type FoldStreamInput<State, Event> = {
  readonly stream: string;
  readonly decider: Fold<State, Event>;
  /** Narrows a stored event to the aggregate's. @throws for an event of another aggregate */
  readonly parse: (event: RecordedEvent) => Event;
  /** State to continue from; events after its revision are read. Default: the initial state. */
  readonly from?: StateAt<State> | undefined;
  /** Last revision to fold. Default: the end of the stream. */
  readonly to?: StreamRevision | undefined;
  /** The fold stops before the first event for which this returns false. Default: the end of the stream. */
  readonly while?: ((event: RecordedEvent) => boolean) | undefined;
};

/** Folds a stream forwards. */
export async function foldStream<State, Event>(
  input: FoldStreamInput<State, Event>,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<StateAt<State>> {
  const { stream, decider, parse, from, to } = input;
  let { state, revision } = from ?? { state: decider.initialState(), revision: -1 };
  if (to !== undefined && revision >= to) return { state, revision };
  const limit = to === undefined ? {} : { limit: to - revision };
  for await (const event of eventStore.readStream(stream, { from: revision + 1, ...limit })) {
    if (input.while?.(event) === false) break;
    state = decider.evolve(state, parse(event));
    revision = event.revision;
  }
  return { state, revision };
}
