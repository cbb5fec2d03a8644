import { traceBatch } from '../../../application/platform/trace-batch.ts';
import type { EventFeed } from '../../../application/ports/event-feed.ts';
import type { Tracing } from '../../../application/ports/tracing.ts';

/** The feed with a span for each batch that a worker handles. */
export function withFeedTracing(feed: EventFeed, { tracing }: { readonly tracing: Tracing | undefined }): EventFeed {
  if (!tracing) return feed;
  return {
    start: (options) =>
      feed.start({
        ...options,
        handle: (events) =>
          traceBatch(
            { name: `handle ${options.worker}`, kind: 'consumer', events, work: () => options.handle(events) },
            { tracing },
          ),
      }),
  };
}
