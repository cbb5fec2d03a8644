import type { EventStoreDBClient, Filter } from '@eventstore/db-client';
import { excludeSystemEvents } from '@eventstore/db-client';
import { refusal } from '../../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../../domain/event.ts';
import { positionFrom } from '../../../domain/event.ts';
import { ignore } from './drain.ts';
import { recordedEvent, startAfter } from './recorded-event.ts';

/** One subscription of the server, pulled. It ends at its first fault; resuming is the caller's. */
export type Feed = {
  /** Waiting events, oldest first. `take` frees their places. */
  take(): RecordedEvent | undefined;
  /** Position that the server has looked through without finding anything more, as soon as everything before was taken. */
  checkpoint(): GlobalPosition | undefined;
  /** Whether the server says that there is nothing more now (servers from 23.10 on say so). */
  isLive(): boolean;
  /** Resolves true when there may be something new, false after `timeoutMs`. */
  changed(timeoutMs: number): Promise<boolean>;
  /** @throws what ended the subscription */
  throwIfEnded(): void;
  close(): void;
};

export type ServerFilter = { readonly on: 'stream' | 'type'; readonly prefixes?: readonly string[]; readonly regex?: string };

export type FeedOptions = {
  readonly client: EventStoreDBClient;
  readonly after: GlobalPosition;
  readonly filter?: ServerFilter | undefined;
  /** Most events that wait. The server is not read further while they do. */
  readonly capacity: number;
};

/** Subscribes to the log, without system events. */
export function openFeed({ client, after, filter, capacity }: FeedOptions): Feed {
  let queue: (RecordedEvent | undefined)[] = [];
  let next = 0;
  let ended: { readonly error: unknown } | undefined;
  let closed = false;
  /** What the server said amid its events; counts once those before it have come through. */
  let said: { position?: GlobalPosition; live?: boolean } = {};
  let checkpoint: GlobalPosition | undefined;
  let live = false;
  let settling = false;
  let blocked: (() => void) | undefined;
  let wake: (() => void) | undefined;

  // Only notes the position: a fault in here would hang the subscription without a word.
  const checkpointReached = (_: unknown, { commit }: { readonly commit: bigint }): void => {
    said.position = positionFrom(commit);
    settle();
  };
  const subscription = client.subscribeToAll({ fromPosition: startAfter(after), filter: clientFilter(filter, checkpointReached) }, { highWaterMark: 256 });
  subscription.on('error', ignore);
  subscription.on('caughtUp', () => {
    said.live = true;
    settle();
  });
  void pump();

  return {
    take() {
      const event = queue[next];
      if (event === undefined) return undefined;
      queue[next] = undefined;
      next += 1;
      if (next === queue.length) {
        queue = [];
        next = 0;
      }
      if (queue.length - next < capacity / 2) blocked?.();
      return event;
    },
    checkpoint: () => (next === queue.length ? checkpoint : undefined),
    isLive: () => live && next === queue.length,
    async changed(timeoutMs) {
      if (ended || closed) return true;
      return new Promise((resolve) => {
        if (next < queue.length) settle();
        const timer = setTimeout(() => {
          wake = undefined;
          resolve(false);
        }, timeoutMs);
        wake = () => {
          clearTimeout(timer);
          wake = undefined;
          resolve(true);
        };
      });
    },
    throwIfEnded() {
      if (ended) throw ended.error;
    },
    close() {
      closed = true;
      blocked?.();
      wake?.();
      subscription.unsubscribe().catch(ignore);
      subscription.destroy();
    },
  };

  async function pump(): Promise<void> {
    try {
      for await (const { event, commitPosition } of subscription) {
        if (closed) return;
        const recorded = event && recordedEvent(event, commitPosition);
        if (recorded) queue.push(recorded);
        settle();
        if (queue.length - next >= capacity) {
          await new Promise<void>((resolve) => (blocked = resolve));
          blocked = undefined;
        }
      }
      ended = { error: refusal('store_unavailable', { message: 'the server ended the subscription' }) };
    } catch (error) {
      ended = { error };
    }
    wake?.();
  }

  /**
   * Wakes the consumer once the client's buffer is empty or our queue is full: events that came together leave together. The client calls
   * back for a checkpoint while events from before it still wait in its buffer; between two turns of the loop an empty buffer means that
   * they have come through.
   */
  function settle(): void {
    if (settling || closed) return;
    settling = true;
    setImmediate(() => {
      settling = false;
      if (!blocked) {
        if (subscription.readableLength > 0) {
          settle();
          return;
        }
        checkpoint = said.position ?? checkpoint;
        live ||= said.live === true;
        said = {};
      }
      wake?.();
    });
  }
}

function clientFilter(filter: ServerFilter | undefined, checkpointReached: (subscription: unknown, position: { readonly commit: bigint }) => void): Filter {
  if (!filter) return excludeSystemEvents({ checkpointReached });
  return {
    filterOn: filter.on === 'stream' ? 'streamName' : 'eventType',
    checkpointInterval: 1,
    checkpointReached,
    ...(filter.prefixes ? { prefixes: [...filter.prefixes] } : { regex: filter.regex ?? '.*' }),
  };
}
