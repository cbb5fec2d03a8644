import { setTimeout as pause } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { EventFilter, SubscribeOptions, SubscriptionItem } from '../../../application/ports/event-store.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../../domain/event.ts';
import { matcherOf } from '../event-filter.ts';
import { refusalOfRead } from './failures.ts';
import type { Feed, ServerFilter } from './feed.ts';
import { openFeed } from './feed.ts';

export type SubscriptionDependencies = {
  readonly client: EventStoreDBClient;
  readonly head: () => Promise<GlobalPosition>;
  /** How long a subscription may be silent before the head is asked for; silent twice behind the head, it is begun anew. */
  readonly watchdogMs: number;
  /** First and longest pause before it is begun anew after a fault. */
  readonly backoffMs: { readonly first: number; readonly most: number };
  /** Told of every fault that is mended. */
  readonly onError: (error: unknown) => void;
  /** Ends all subscriptions. */
  readonly closing: AbortSignal;
};

/** How long an item that is not full waits for more while the subscription is behind. */
const LINGER_MS = 10;
/** Silence after which a server that does not say when it is through is taken to be. */
const QUIET_MS = 1000;

/**
 * See `EventStore.subscribe`. Behind the head, the server leaves out what the filter does (where it can); its checkpoints are too rare to reach
 * the head, so that from there on all events come and are left out here, and every position is passed on at once.
 */
export async function* subscribe(dependencies: SubscriptionDependencies, { after, filter, batchSize = 500, signal }: SubscribeOptions): AsyncIterable<SubscriptionItem> {
  const { client, head, watchdogMs, backoffMs, onError, closing } = dependencies;
  const ending = AbortSignal.any([signal, closing]);
  const ended = () => ending.aborted;
  const matches = matcherOf(filter);
  const serverFilter = serverFilterOf(filter);
  let position = after;
  let caughtUp = false;
  let faults = 0;
  let catchingUp = serverFilter !== undefined;

  while (!ended()) {
    let feed: Feed | undefined;
    const end = () => feed?.close();
    ending.addEventListener('abort', end, { once: true });
    try {
      const target = await head();
      if (target > position) caughtUp = false;
      else catchingUp = false;
      feed = openFeed({ client, after: position, filter: catchingUp ? serverFilter : undefined, capacity: batchSize * 2 });
      if (ended()) return;
      let overdue = false;
      for (;;) {
        const before = position;
        const events: RecordedEvent[] = [];
        let lingering: number | undefined;
        while (events.length < batchSize) {
          const event = feed.take();
          if (!event) {
            if (events.length === 0 || position >= target) break;
            lingering ??= performance.now() + LINGER_MS;
            const left = lingering - performance.now();
            if (left > 0 && (await feed.changed(left)) && !ended()) continue;
            break;
          }
          if (event.position <= position) continue;
          position = event.position;
          if (matches(event)) events.push(event);
        }
        const passed = feed.checkpoint();
        if (events.length < batchSize && passed !== undefined && passed > position) position = passed;
        if (position > before) {
          faults = 0;
          overdue = false;
          if (events.length > 0) yield { kind: 'events', events, position };
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
          if (behind && overdue) throw refusal('store_unavailable', { message: 'the subscription has stalled behind the head' });
          overdue = behind;
        }
        if (ended()) return;
      }
    } catch (error) {
      if (ended()) return;
      const refused = refusalOfRead(error);
      if (!hasCode(refused, 'store_unavailable') || error instanceof RangeError) throw refused;
      onError(error);
      const wait = Math.min(backoffMs.first * 2 ** faults, backoffMs.most);
      faults += 1;
      await pause(wait, undefined, { signal: ending }).catch(() => undefined);
    } finally {
      ending.removeEventListener('abort', end);
      feed?.close();
    }
  }
}

/** What of a filter the server can do: one test, of the stream's name or of the type. The adapter tests all of it again. */
export function serverFilterOf(filter: EventFilter | undefined): ServerFilter | undefined {
  if (filter?.categories && filter.categories.length > 0) return { on: 'stream', prefixes: filter.categories.map((category) => `${category}-`) };
  if (filter?.types && filter.types.length > 0) return { on: 'type', regex: `^(?:${filter.types.map(quoted).join('|')})$` };
  return undefined;
}

function quoted(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
