import { stoppablePause } from '../../application/concurrency/stoppable-pause.ts';
import { eventsTopic } from '../../application/platform/topics.ts';
import type { EventFeed, FeedOptions, RunningFeed } from '../../application/ports/event-feed.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { deadLetterTopic } from '../../application/ports/message-bus.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import { isOutage, reasonOf } from '../../application/ports/transient-errors.ts';
import { hasCode } from '../../domain/errors.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { DeadEvents } from './dead-events.ts';
import { MAX_DELAY_MS } from './delivery.ts';

export type FollowingEventFeedOptions = {
  /**
   * Follows the log under a lease, with a checkpoint of this name, at least once. Retries errors of `handle` with
   * growing pauses.
   */
  readonly follow: (options: {
    readonly name: string;
    readonly categories: FeedOptions['categories'];
    readonly handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>;
  }) => RunningFeed;
  readonly deadEvents: DeadEvents;
  /** First part of the topic names. */
  readonly prefix: string;
  readonly logger: Logger;
  readonly metrics?: Pick<Metrics, 'deadLettered'>;
  /** Maximum number of attempts per event. Default 5. */
  readonly maxAttempts?: number;
  /** First pause between attempts in milliseconds, doubled each time up to 10 s. Default 200. */
  readonly retryDelayMs?: number;
};

/**
 * Delivers events to workers directly from the log when there is no message bus, each with its own checkpoint. An event
 * that its worker cannot handle is stored in `operational.dead_events` after the last attempt, and the worker
 * continues. Outages do not count as attempts.
 */
export function createFollowingEventFeed(options: FollowingEventFeedOptions): EventFeed {
  const { follow, deadEvents, prefix, logger, metrics, maxAttempts = 5, retryDelayMs = 200 } = options;
  return {
    start: ({ worker, categories, handle }) =>
      Promise.resolve(
        follow({
          name: `worker/${worker}`,
          categories,
          handle: (events, signal) => handleAll(events, { worker, handle, signal }),
        }),
      ),
  };

  type Work = Pick<FeedOptions, 'worker' | 'handle'> & { readonly signal: AbortSignal };

  /** Handles a batch. A batch that fails is halved until the event at fault is alone. */
  async function handleAll(events: readonly RecordedEvent[], work: Work): Promise<void> {
    try {
      await work.handle(events);
    } catch (error) {
      if (isOutage(error)) throw error;
      work.signal.throwIfAborted();
      const [first] = events;
      if (events.length === 1 && first) return retryEvent(first, error, work);
      const half = Math.ceil(events.length / 2);
      await handleAll(events.slice(0, half), work);
      work.signal.throwIfAborted();
      await handleAll(events.slice(half), work);
    }
  }

  /** Retries one event until its last attempt. @throws outages, during which the follower waits */
  async function retryEvent(
    event: RecordedEvent,
    firstError: unknown,
    { worker, handle, signal }: Work,
  ): Promise<void> {
    const pause = stoppablePause(signal);
    const firstSeen = new Date();
    let error = firstError;
    for (let attempts = 1; ; attempts += 1) {
      const last = attempts >= maxAttempts || hasCode(error, 'message_unreadable');
      logger.warn('an event could not be handled', {
        worker,
        event_id: event.id,
        position: event.position,
        attempt: attempts,
        last,
        reason: reasonOf(error),
      });
      if (last) return store(event, { worker, attempts, firstSeen, error });
      if (!(await pause(Math.min(retryDelayMs * 2 ** (attempts - 1), MAX_DELAY_MS)))) signal.throwIfAborted();
      try {
        await handle([event]);
        return;
      } catch (failure) {
        if (isOutage(failure)) throw failure;
        error = failure;
      }
    }
  }

  async function store(
    event: RecordedEvent,
    { worker, attempts, firstSeen, error }: { worker: string; attempts: number; firstSeen: Date; error: unknown },
  ): Promise<void> {
    const topic = deadLetterTopic(eventsTopic(prefix, categoryOf(event.stream)));
    await deadEvents.store({ worker, event, topic, reason: reasonOf(error), attempts, firstSeen });
    logger.error('an event was stored as a dead event', {
      worker,
      event_id: event.id,
      position: event.position,
      topic,
      attempts,
    });
    metrics?.deadLettered?.(topic);
  }
}
