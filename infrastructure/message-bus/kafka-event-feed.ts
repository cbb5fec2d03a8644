import QuickLRU from 'quick-lru';
import { decodeEvent } from '../../application/platform/event-message.ts';
import { eventsTopic, workerGroup } from '../../application/platform/topics.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import type { MessageBus } from '../../application/ports/message-bus.ts';

/** Events remembered as handled. The relay repeats at most a few batches. */
const REMEMBERED = 10_000;

/**
 * Feeds workers from the events topics, each worker as the consumer group `<prefix>.<worker>.v1` (rule 10). Members of the group in several
 * processes share the streams. Repeats that this process has handled itself are dropped here; all others by the handler.
 */
export function kafkaEventFeed({ bus, prefix }: { readonly bus: Pick<MessageBus, 'consume'>; readonly prefix: string }): EventFeed {
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
