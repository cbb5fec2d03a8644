import QuickLRU from 'quick-lru';
import { type EventStub, decodeEvent, decodeEventStub } from '../../application/platform/event-message.ts';
import { eventsTopic, workerGroup } from '../../application/platform/topics.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';
import { refusal } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';

/** Number of handled event ids that are remembered. The relay repeats at most a few batches. */
const REMEMBERED = 10_000;

/**
 * Delivers events to workers from the event topics; each worker is the consumer group `<prefix>.<worker>.v1`. Members
 * of a group in several processes share the streams. Repetitions of events that this process has handled are dropped
 * here; the handler must ignore all others.
 */
export function createKafkaEventFeed({
  bus,
  prefix,
  eventStore,
}: {
  readonly bus: Pick<MessageBus, 'consume'>;
  readonly prefix: string;
  readonly eventStore: Pick<EventStore, 'readStream'>;
}): EventFeed {
  return {
    async start({ worker, categories, handle }) {
      const handled = new QuickLRU<string, true>({ maxSize: REMEMBERED });
      return bus.consume({
        topics: categories.map((category) => eventsTopic(prefix, category)),
        group: workerGroup(prefix, worker),
        async handler(message) {
          const stub = decodeEventStub(message);
          const event = stub ? await readEvent(stub, { eventStore }) : decodeEvent(message);
          if (handled.has(event.id)) return;
          await handle([event]);
          handled.set(event.id, true);
        },
      });
    },
  };
}

/** Reads the event of a stub. */
async function readEvent(
  { stream, revision }: EventStub,
  { eventStore }: { readonly eventStore: Pick<EventStore, 'readStream'> },
): Promise<RecordedEvent> {
  for await (const event of eventStore.readStream(stream, { from: revision, limit: 1 }))
    if (event.revision === revision) return event;
  throw refusal('message_unreadable', { message: 'the event of the stub is not in the event store' });
}
