import type { StreamRevision } from '../domain/event.ts';
import { withDeadline } from './concurrency/with-deadline.ts';
import type { EventStore } from './ports/event-store.ts';

/** Shared by the commands of this process that wait for, or work on, one stream. */
export type LastWrite = {
  /** Last revision that one of these commands wrote; -1 for none. */
  revision: StreamRevision;
};

type Queue = LastWrite & { waiting: number; last: Promise<void> | undefined };

/**
 * Maximum wait for the previous command, in milliseconds. After it both commands run at the same time; the store's
 * check of the expected revision still prevents lost updates.
 */
const MAX_WAIT_MS = 10_000;

const queues = new WeakMap<EventStore, Map<string, Queue>>();

/**
 * Runs work on a stream while no other work of this process runs on it, so that commands do not conflict with each
 * other.
 * A command that is alone on its stream starts at once.
 */
export async function runExclusivelyOnStream<T>(
  { stream, work }: { readonly stream: string; readonly work: (last: LastWrite) => Promise<T> },
  { eventStore }: { readonly eventStore: EventStore },
): Promise<T> {
  let ofStore = queues.get(eventStore);
  if (!ofStore) queues.set(eventStore, (ofStore = new Map<string, Queue>()));
  let queue = ofStore.get(stream);
  if (!queue) ofStore.set(stream, (queue = { revision: -1, waiting: 0, last: undefined }));
  const before = queue.last;
  let leave: () => void = () => undefined;
  queue.waiting += 1;
  queue.last = new Promise((resolve) => {
    leave = resolve;
  });
  try {
    if (before) await withDeadline(before, MAX_WAIT_MS, () => undefined);
    return await work(queue);
  } finally {
    leave();
    queue.waiting -= 1;
    if (queue.waiting === 0) ofStore.delete(stream);
  }
}
