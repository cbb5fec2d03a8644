import type { RecordedEvent } from '../../domain/event.ts';
import { byStream } from '../../domain/by-stream.ts';
import { categoryOf } from '../../domain/stream.ts';
import { inParallel } from '../in-parallel.ts';
import type { Message, MessageBus } from '../ports/message-bus.ts';
import type { EntryChange } from './content-change-message.ts';
import { encodeContentChange } from './content-change-message.ts';
import { encodeEvent } from './event-message.ts';

export type RelayDependencies = {
  readonly bus: Pick<MessageBus, 'publish'>;
  /** Of the topics, `KAFKA_TOPIC_PREFIX`. */
  readonly prefix: string;
  /** The entry before and after one of its events. Called in order for the events of one entry. */
  readonly changeOf: (event: RecordedEvent) => Promise<EntryChange>;
};

/** Entries whose histories are read at the same time. */
const PARALLEL_ENTRIES = 8;
/** About how much of a batch is held as messages at a time, in characters of JSON. */
const CHUNK_CHARACTERS = 4_000_000;

/**
 * Makes the relay (rule 10): the handler of the leased follower `relay`, which moves its checkpoint only after the handler has resolved.
 * It resolves when the broker has taken the messages of all events, in their order. Killed before the checkpoint moves, it sends them
 * again: at least once, with the same `ce_id`. Sealed values are published as they are.
 */
export function createRelay(dependencies: RelayDependencies): (events: readonly RecordedEvent[], signal?: AbortSignal) => Promise<void> {
  const { bus, prefix, changeOf } = dependencies;
  return async function relayBatch(events, signal) {
    for (const slice of slices(events, 100)) {
      // The lease is lost: another process sends these events from here on.
      signal?.throwIfAborted();
      const changes = await changesOf(slice, changeOf);
      let chunk: Message[] = [];
      let characters = 0;
      for (const event of slice) {
        const change = changes.get(event);
        const messages = [encodeEvent(event, prefix), ...(change ? encodeContentChange(event, change, prefix) : [])];
        for (const message of messages) {
          if (!message) continue;
          chunk.push(message);
          characters += message.value?.length ?? 0;
        }
        if (characters < CHUNK_CHARACTERS) continue;
        await bus.publish(chunk);
        chunk = [];
        characters = 0;
      }
      if (chunk.length > 0) await bus.publish(chunk);
    }
  };
}

/** Histories of different entries side by side, those of one entry in order. */
async function changesOf(events: readonly RecordedEvent[], changeOf: RelayDependencies['changeOf']): Promise<ReadonlyMap<RecordedEvent, EntryChange>> {
  const changes = new Map<RecordedEvent, EntryChange>();
  const entries = events.filter((event) => categoryOf(event.stream) === 'entry');
  await inParallel(byStream(entries), PARALLEL_ENTRIES, async (run) => {
    for (const event of run) changes.set(event, await changeOf(event));
  });
  return changes;
}

function* slices<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
