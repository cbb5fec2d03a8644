import { byStream } from '../../domain/by-stream.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';
import { chunks } from '../chunks.ts';
import type { ChangeOf } from '../content/entry-history.ts';
import { inParallel } from '../in-parallel.ts';
import type { Message, MessageBus } from '../ports/message-bus.ts';
import { encodeAuditSignature } from './audit-signature-message.ts';
import { type PublishedChange, encodeContentChange } from './content-change-message.ts';
import { encodeEvent } from './event-message.ts';

export type RelayDependencies = {
  readonly bus: Pick<MessageBus, 'publish'>;
  /** Prefix of the topic names, setting `KAFKA_TOPIC_PREFIX`. */
  readonly prefix: string;
  /** Returns the entry before and after one of its events. The relay calls it in order for the events of an entry. */
  readonly changeOf: ChangeOf<PublishedChange>;
};

/** Maximum number of entries whose streams are read at the same time. */
const PARALLEL_ENTRIES = 8;
/** Number of events whose entries are in memory at the same time. */
const SLICE = 100;
/** Size of the messages after which they are published, in characters of JSON. It bounds the memory of a batch. */
const CHUNK_CHARACTERS = 4_000_000;

/**
 * Creates the batch handler of the leased follower `relay`. The handler resolves when the broker has accepted the
 * messages of all events, in order; only then the follower moves its checkpoint. After a crash before that, the events
 * are published again with the same `ce_id`, so each message is delivered at least once. Sealed values are published
 * sealed.
 */
export function createRelay(
  dependencies: RelayDependencies,
): (events: readonly RecordedEvent[], signal?: AbortSignal) => Promise<void> {
  const { bus, prefix } = dependencies;
  return async function relayBatch(events, signal) {
    for (const slice of chunks(events, SLICE)) {
      // Aborted: the lease is lost, and another process publishes these events.
      signal?.throwIfAborted();
      const changes = await changesOf(slice, dependencies);
      let chunk: Message[] = [];
      let characters = 0;
      for (const event of slice) {
        const change = changes.get(event);
        const messages = [
          encodeEvent(event, prefix),
          ...(change ? encodeContentChange({ event, change, prefix }) : []),
          ...encodeAuditSignature(event, prefix),
        ];
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

/** Reads the changes of different entries in parallel, and those of one entry in order. */
async function changesOf(
  events: readonly RecordedEvent[],
  { changeOf }: Pick<RelayDependencies, 'changeOf'>,
): Promise<ReadonlyMap<RecordedEvent, PublishedChange>> {
  const changes = new Map<RecordedEvent, PublishedChange>();
  const entries = events.filter((event) => categoryOf(event.stream) === 'entry');
  await inParallel(byStream(entries), PARALLEL_ENTRIES, async (ofEntry) => {
    for (const event of ofEntry) changes.set(event, await changeOf(event));
  });
  return changes;
}
