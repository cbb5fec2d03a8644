import { type EventStoreDBClient, type Filter, excludeSystemEvents } from '@eventstore/db-client';
import { createWaker } from '../../../application/concurrency/waker.ts';
import { refusal } from '../../../domain/errors.ts';
import { type GlobalPosition, type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import { bytesOf } from '../event-bytes.ts';
import { ignoreError } from './drain.ts';
import { recordedEvent, startAfter } from './recorded-event.ts';

type Waiting = { readonly event: RecordedEvent; readonly bytes: number };

/** One subscription on the server, pulled by the caller. It ends at its first error; resuming is up to the caller. */
export type Feed = {
  /** Removes and returns the oldest waiting event. */
  take(): Waiting | undefined;
  /** The position up to which the server found no further events, once all earlier events were taken. */
  checkpoint(): GlobalPosition | undefined;
  /** Whether the server reported that the subscription is live (servers from 23.10 on report it). */
  isLive(): boolean;
  /** Resolves to true when something may be new, to false after `timeoutMs`. */
  changed(timeoutMs: number): Promise<boolean>;
  /** @throws the error that ended the subscription */
  throwIfEnded(): void;
  close(): void;
};

export type ServerFilter = {
  readonly on: 'stream' | 'type';
  readonly prefixes?: readonly string[];
  readonly regex?: string;
};

export type FeedOptions = {
  readonly client: EventStoreDBClient;
  readonly after: GlobalPosition;
  readonly filter?: ServerFilter | undefined;
  /** Maximum number of waiting events. While it or `MAX_BYTES` is reached, nothing more is read from the server. */
  readonly capacity: number;
};

/** Maximum size of the waiting events in bytes; the last of them may exceed it. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Messages that the client reads ahead. */
const READ_AHEAD = 64;

/** Subscribes to the log without system events. */
export function openFeed({ client, after, filter, capacity }: FeedOptions): Feed {
  let queue: (Waiting | undefined)[] = [];
  let next = 0;
  let waitingBytes = 0;
  let ended: { readonly error: unknown } | undefined;
  let closed = false;
  /** Reports of the server that take effect once the events before them have arrived. */
  let reported: { position?: GlobalPosition; live?: boolean } = {};
  let checkpoint: GlobalPosition | undefined;
  let live = false;
  let settling = false;
  let blocked: (() => void) | undefined;
  const waker = createWaker();

  // Only stores the position: an error thrown here would hang the subscription without a message.
  const checkpointReached = (_: unknown, { commit }: { readonly commit: bigint }): void => {
    reported.position = positionFrom(commit);
    settle();
  };
  const subscription = client.subscribeToAll(
    { fromPosition: startAfter(after), filter: clientFilter(filter, checkpointReached) },
    { highWaterMark: READ_AHEAD },
  );
  subscription.on('error', ignoreError);
  subscription.on('caughtUp', () => {
    reported.live = true;
    settle();
  });
  void pump();

  return {
    take() {
      const item = queue[next];
      if (item === undefined) return undefined;
      queue[next] = undefined;
      next += 1;
      waitingBytes -= item.bytes;
      if (next === queue.length) {
        queue = [];
        next = 0;
      }
      if (queue.length - next < capacity / 2 && waitingBytes < MAX_BYTES / 2) blocked?.();
      return item;
    },
    checkpoint: () => (next === queue.length ? checkpoint : undefined),
    isLive: () => live && next === queue.length,
    async changed(timeoutMs) {
      if (ended || closed) return true;
      if (next < queue.length) settle();
      return waker.wait(timeoutMs);
    },
    throwIfEnded() {
      if (ended) throw ended.error;
    },
    close() {
      closed = true;
      blocked?.();
      waker.wake();
      subscription.unsubscribe().catch(ignoreError);
      subscription.destroy();
    },
  };

  async function pump(): Promise<void> {
    try {
      for await (const { event, commitPosition } of subscription) {
        if (closed) return;
        const recorded = event && recordedEvent(event, commitPosition);
        if (recorded) {
          const bytes = bytesOf(recorded);
          queue.push({ event: recorded, bytes });
          waitingBytes += bytes;
        }
        settle();
        if (queue.length - next >= capacity || waitingBytes >= MAX_BYTES) {
          await new Promise<void>((resolve) => (blocked = resolve));
          blocked = undefined;
        }
      }
      ended = { error: refusal('store_unavailable', { message: 'the server ended the subscription' }) };
    } catch (error) {
      ended = { error };
    }
    waker.wake();
  }

  /**
   * Wakes the consumer once the client's buffer is empty or the queue is full, so that events that arrived together are
   * delivered together. The client reports a checkpoint while earlier events still wait in its buffer; an empty buffer
   * between two turns of the event loop means that they have arrived.
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
        checkpoint = reported.position ?? checkpoint;
        live ||= reported.live === true;
        reported = {};
      }
      waker.wake();
    });
  }
}

function clientFilter(
  filter: ServerFilter | undefined,
  checkpointReached: (subscription: unknown, position: { readonly commit: bigint }) => void,
): Filter {
  if (!filter) return excludeSystemEvents({ checkpointReached });
  return {
    filterOn: filter.on === 'stream' ? 'streamName' : 'eventType',
    checkpointInterval: 1,
    checkpointReached,
    ...(filter.prefixes ? { prefixes: [...filter.prefixes] } : { regex: filter.regex ?? '.*' }),
  };
}
