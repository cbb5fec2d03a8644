import type { EventFeed } from '../../../application/ports/event-feed.ts';
import { startFollower } from '../../../projections/engine/follower.ts';
import { createDeadEvents } from '../../message-bus/dead-events.ts';
import { createFollowingEventFeed } from '../../message-bus/following-event-feed.ts';
import type { Platform } from '../platform/platform.ts';

/** The feed without a bus: a leased follower of the event store for each worker. */
export function createStoreEventFeed({ settings, eventStore, leases, database, logger, metrics }: Platform): EventFeed {
  return createFollowingEventFeed({
    follow: ({ name, categories, handle }) =>
      startFollower({
        name,
        eventStore,
        filter: { categories },
        leases,
        database,
        handler: { kind: 'before', handle },
        logger,
        metrics,
      }),
    deadEvents: createDeadEvents({ database }),
    prefix: settings.kafkaTopicPrefix,
    logger,
    metrics,
  });
}
