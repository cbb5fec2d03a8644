import type { Database } from '../../postgres/database.ts';
import type { Listener } from '../../postgres/listen.ts';
import { openListener } from '../../postgres/listen.ts';
import type { LogPage } from './log-page.ts';
import type { Mailbox } from './mailbox.ts';
import { readHead, readPage } from './reader.ts';

const PAGE = 500;
const POLL_LISTENING_MS = 2_000;
const POLL_DEAF_MS = 100;

export type TailOptions = {
  readonly database: Database;
  /** Backend of this process's writer: its notifications are not news. */
  readonly writerBackend: () => number | undefined;
  readonly onError: (error: unknown) => void;
};

export type TailStats = {
  /** Live subscriptions, and reads of new events made for all of them together. */
  readonly subscribers: number;
  readonly reads: number;
  readonly waiting: number;
  readonly listening: boolean;
};

/**
 * The live end of the log, followed once per process for all subscriptions. It moves by what the local writer has just written when
 * that is next in line, else by reading; woken by NOTIFY, and by a slow poll that turns quick while LISTEN is lost.
 */
export type Tail = {
  /** Mailbox is offered everything after the position returned (and more, where `position` moves before it is asked again). */
  open(mailbox: Mailbox): Promise<void>;
  release(mailbox: Mailbox): void;
  /** All of the log up to here has been offered. */
  position(): number;
  /** The writer has written from `after` to `to`; `page` makes the events. */
  written(after: number, to: number, page: () => LogPage): void;
  /** There may be something new. */
  wake(): void;
  stats(): TailStats;
  close(): Promise<void>;
};

export function openTail({ database, writerBackend, onError }: TailOptions): Tail {
  const mailboxes = new Set<Mailbox>();
  let position = 0;
  /** Knows its position: a mailbox is open and the head was read. */
  let starting: Promise<void> | undefined;
  let started = false;
  let advancing = false;
  let again = false;
  let reads = 0;
  let listener: Listener | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  return {
    async open(mailbox) {
      if (closed) return;
      mailboxes.add(mailbox);
      starting ??= start().catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      await starting;
    },
    release(mailbox) {
      mailboxes.delete(mailbox);
      if (mailboxes.size === 0) {
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
      subscribers: mailboxes.size,
      reads,
      waiting: [...mailboxes].reduce((sum, mailbox) => sum + mailbox.size(), 0),
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
    listener ??= openListener({ database, channels: ['eventstore_appended'], onNotification: notified, onConnect: wake, onError });
    position = Math.max(position, await readHead(database));
    started = true;
    poll();
  }

  function notified({ payload }: { readonly payload: string }): void {
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
      listener?.client() ? POLL_LISTENING_MS : POLL_DEAF_MS,
    ).unref();
  }

  function wake(): void {
    again = true;
    if (!advancing && started) void advance();
  }

  async function advance(): Promise<void> {
    advancing = true;
    try {
      while (again && started) {
        again = false;
        let page: LogPage;
        do {
          page = await readPage(database, position, PAGE);
          reads += 1;
          deliver(page);
        } while (page.events.length === PAGE && isOpen());
      }
    } catch (error) {
      // The poll tries again.
      onError(error);
    } finally {
      advancing = false;
    }
  }

  function isOpen(): boolean {
    return started;
  }

  function deliver(page: LogPage): void {
    if (!started || page.to <= position || page.after > position) return;
    for (const mailbox of mailboxes) mailbox.offer(page);
    position = page.to;
  }
}
