import type { EventStoreDBClient } from '@eventstore/db-client';
import { stoppablePause } from '../../../application/concurrency/stoppable-pause.ts';
import type { EventFilter, SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../../domain/event.ts';
import { PAGE_BYTES } from '../event-bytes.ts';
import { matcherOf } from '../event-filter.ts';
import { refusalOfRead } from './failures.ts';
import { type Feed, type ServerFilter, openFeed } from './feed.ts';

export type SubscriptionDependencies = {
  readonly client: EventStoreDBClient;
  readonly head: () => Promise<GlobalPosition>;
  /**
   * Silence in milliseconds after which the position is compared with the head. A subscription that is silent twice
   * while behind the head is reopened.
   */
  readonly watchdogMs: number;
  /** First and longest pause before it is reopened after an error, in milliseconds. */
  readonly backoffMs: { readonly first: number; readonly most: number };
  /** Called with every error from which the subscription recovers. */
  readonly onError: (error: unknown) => void;
  /** Ends all subscriptions. */
  readonly closing: AbortSignal;
};

/** Time in milliseconds that a partly filled item waits for more events while the subscription is behind. */
const LINGER_MS = 10;
/** Silence in milliseconds after which a server that does not report being live is considered live. */
const QUIET_MS = 1000;

/**
 * See `EventStore.subscribe`. While behind the head, the server applies the part of the filter that it supports. Its
 * checkpoints are too rare to reach the head exactly, so near the head all events are received and filtered here, and
 * every position is yielded immediately.
 */
export async function* subscribe(
  { after, filter, batchSize = 500, signal }: SubscribeOptions,
  dependencies: SubscriptionDependencies,
): AsyncIterable<SubscriptionItem> {
  const { client, head, watchdogMs, backoffMs, onError, closing } = dependencies;
  const ending = AbortSignal.any([signal, closing]);
  const ended = () => ending.aborted;
  const pause = stoppablePause(ending);
  const matches = matcherOf(filter);
  const serverFilter = serverFilterOf(filter);
  let position = after;
  let caughtUp = false;
  let failures = 0;
  let catchingUp = serverFilter !== undefined;

  while (!ended()) {
    let feed: Feed | undefined;
    const end = () => feed?.close();
    ending.addEventListener('abort', end, { once: true });
    try {
      const target = await head();
      if (target > position) caughtUp = false;
      else catchingUp = false;
      feed = openFeed({
        client,
        after: position,
        filter: catchingUp ? serverFilter : undefined,
        capacity: batchSize * 2,
      });
      if (ended()) return;
      let overdue = false;
      for (;;) {
        const before = position;
        const events: RecordedEvent[] = [];
        let bytes = 0;
        let lingering: number | undefined;
        while (events.length < batchSize && bytes < PAGE_BYTES) {
          const items = feed.take();
          if (!items) {
            if (events.length === 0 || position >= target) break;
            lingering ??= performance.now() + LINGER_MS;
            const left = lingering - performance.now();
            if (left > 0 && (await feed.changed(left)) && !ended()) continue;
            break;
          }
          const { event } = items;
          if (event.position <= position) continue;
          position = event.position;
          if (!matches(event)) continue;
          events.push(event);
          bytes += items.bytes;
        }
        const passed = feed.checkpoint();
        if (events.length < batchSize && bytes < PAGE_BYTES && passed !== undefined && passed > position)
          position = passed;
        if (position > before) {
          failures = 0;
          overdue = false;
          if (events.length > 0) yield { kind: 'events', events, bytes, position };
          else yield { kind: 'checkpoint', position };
        } else if (catchingUp && (position >= target || feed.isLive())) {
          catchingUp = false;
          break;
        } else if (!caughtUp && position >= target) {
          caughtUp = true;
          yield { kind: 'caught_up', position };
        } else {
          feed.throwIfEnded();
          if (await feed.changed(catchingUp ? Math.min(QUIET_MS, watchdogMs) : watchdogMs)) {
            if (ended()) return;
            continue;
          }
          if (catchingUp) {
            catchingUp = false;
            break;
          }
          const behind = (await head()) > position;
          if (behind && overdue)
            throw refusal('store_unavailable', { message: 'the subscription has stalled behind the head' });
          overdue = behind;
        }
        if (ended()) return;
      }
    } catch (error) {
      if (ended()) return;
      const refused = refusalOfRead(error);
      if (!hasCode(refused, 'store_unavailable') || error instanceof RangeError) throw refused;
      onError(error);
      const wait = Math.min(backoffMs.first * 2 ** failures, backoffMs.most);
      failures += 1;
      await pause(wait);
    } finally {
      ending.removeEventListener('abort', end);
      feed?.close();
    }
  }
}

/**
 * The part of a filter that the server supports: one condition on the stream name or the type. The adapter applies the
 * whole filter again.
 */
function serverFilterOf(filter: EventFilter | undefined): ServerFilter | undefined {
  if (filter?.categories && filter.categories.length > 0)
    return { on: 'stream', prefixes: filter.categories.map((category) => `${category}-`) };
  if (filter?.types && filter.types.length > 0)
    return { on: 'type', regex: `^(?:${filter.types.map(quoted).join('|')})$` };
  return undefined;
}

function quoted(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
