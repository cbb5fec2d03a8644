import QuickLRU from 'quick-lru';
import { decodeEvent } from '../../application/platform/event-message.ts';
import { eventsTopic, workerGroup } from '../../application/platform/topics.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';

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
}: {
  readonly bus: Pick<MessageBus, 'consume'>;
  readonly prefix: string;
}): EventFeed {
  return {
    async start({ worker, categories, handle }) {
      const handled = new QuickLRU<string, true>({ maxSize: REMEMBERED });
      return bus.consume({
        topics: categories.map((category) => eventsTopic(prefix, category)),
        group: workerGroup(prefix, worker),
        async handler(message) {
          const event = decodeEvent(message);
          if (handled.has(event.id)) return;
          await handle([event]);
          handled.set(event.id, true);
        },
      });
    },
  };
}
