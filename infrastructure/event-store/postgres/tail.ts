import { oneAtATime } from '../../../application/concurrency/one-at-a-time.ts';
import type { Database } from '../../postgres/database.ts';
import { type Listener, openListener } from '../../postgres/listen.ts';
import type { LogPage } from './log-page.ts';
import { readHead, readPage } from './reader.ts';
import type { SubscriberBuffer } from './subscriber-buffer.ts';

const PAGE = 500;
const POLL_LISTENING_MS = 2_000;
const POLL_NOT_LISTENING_MS = 100;

export type TailOptions = {
  readonly database: Database;
  /** Backend process id of this process's writer, whose notifications are ignored. */
  readonly writerBackend: () => number | undefined;
  readonly onError: (error: unknown) => void;
};

export type TailStats = {
  /** Number of live subscriptions, and number of reads of new events shared by all of them. */
  readonly subscribers: number;
  readonly reads: number;
  readonly waiting: number;
  readonly listening: boolean;
};

/**
 * The live tail of the log, followed once per process for all subscriptions. When the next
 * events are those that the writer of this process has just written, it takes them from there; otherwise it reads them.
 * NOTIFY wakes it, and so does a poll, which is slow while LISTEN works and fast while it does not.
 */
export type Tail = {
  /** Offers the buffer every event after the current position, and possibly earlier ones. */
  open(buffer: SubscriberBuffer): Promise<void>;
  release(buffer: SubscriberBuffer): void;
  /** The position up to which every event was offered. */
  position(): number;
  /** Reports that the writer wrote the events after `after` up to `to`; `page` builds them. */
  written(after: number, to: number, page: () => LogPage): void;
  /** Reports that new events may exist. */
  wake(): void;
  stats(): TailStats;
  close(): Promise<void>;
};

export function openTail({ database, writerBackend, onError }: TailOptions): Tail {
  const buffers = new Set<SubscriberBuffer>();
  const advance = oneAtATime(readNewEvents);
  let position = 0;
  /** Set while a buffer is open; resolves when the head was read. */
  let starting: Promise<void> | undefined;
  let started = false;
  let reads = 0;
  let listener: Listener | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  return {
    async open(buffer) {
      if (closed) return;
      buffers.add(buffer);
      starting ??= start().catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      await starting;
    },
    release(buffer) {
      buffers.delete(buffer);
      if (buffers.size === 0) {
        starting = undefined;
        started = false;
        clearTimeout(timer);
      }
    },
    position: () => position,
    written(after, to, page) {
      if (!started || to <= position) return;
      if (after <= position) deliver(page());
      else wake();
    },
    wake,
    stats: () => ({
      subscribers: buffers.size,
      reads,
      waiting: [...buffers].reduce((sum, buffer) => sum + buffer.size(), 0),
      listening: listener?.client() !== undefined,
    }),
    async close() {
      closed = true;
      started = false;
      clearTimeout(timer);
      await listener?.close();
    },
  };

  async function start(): Promise<void> {
    listener ??= openListener({
      database,
      channels: ['eventstore_appended'],
      onNotification,
      onConnect: wake,
      onError,
    });
    position = Math.max(position, await readHead({ database }));
    started = true;
    poll();
  }

  function onNotification({ payload }: { readonly payload: string }): void {
    const [head, backend] = payload.split(' ');
    if (Number(head) > position && Number(backend) !== writerBackend()) wake();
  }

  function poll(): void {
    clearTimeout(timer);
    if (!started || closed) return;
    timer = setTimeout(
      () => {
        wake();
        poll();
      },
      listener?.client() ? POLL_LISTENING_MS : POLL_NOT_LISTENING_MS,
    ).unref();
  }

  function wake(): void {
    if (started) void advance();
  }

  async function readNewEvents(): Promise<void> {
    try {
      for (let more = true; more && isOpen();) {
        const page = await readPage({ after: position, limit: PAGE }, { database });
        reads += 1;
        deliver(page);
        more = page.events.length === PAGE;
      }
    } catch (error) {
      // The next poll retries.
      onError(error);
    }
  }

  function isOpen(): boolean {
    return started;
  }

  function deliver(page: LogPage): void {
    if (!started || page.to <= position || page.after > position) return;
    for (const buffer of buffers) buffer.offer(page);
    position = page.to;
  }
}
