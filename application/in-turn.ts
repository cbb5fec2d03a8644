import type { StreamRevision } from '../domain/event.ts';
import type { EventStore } from './ports/event-store.ts';

/** The commands of this process on one stream, one after the other. */
export type Turn = {
  /** Last revision that this process wrote while commands stood in line; -1 for none. */
  revision: StreamRevision;
};

type Line = Turn & { waiting: number; last: Promise<void> | undefined };

/** Nobody waits longer for one ahead that hangs: the store's check of revisions keeps order also out of turn. */
const PATIENCE_MS = 10_000;

const lines = new WeakMap<EventStore, Map<string, Line>>();

/**
 * Runs work on a stream when the work before it is done, so that commands of one process don't spend their retries on each other.
 * Alone on its stream, work starts at once.
 */
export async function inTurn<T>({ eventStore, stream }: { readonly eventStore: EventStore; readonly stream: string }, work: (turn: Turn) => Promise<T>): Promise<T> {
  let ofStore = lines.get(eventStore);
  if (!ofStore) lines.set(eventStore, (ofStore = new Map<string, Line>()));
  let line = ofStore.get(stream);
  if (!line) ofStore.set(stream, (line = { revision: -1, waiting: 0, last: undefined }));
  const before = line.last;
  let leave: () => void = () => undefined;
  line.waiting += 1;
  line.last = new Promise((resolve) => {
    leave = resolve;
  });
  try {
    if (before) await patiently(before);
    return await work(line);
  } finally {
    leave();
    line.waiting -= 1;
    if (line.waiting === 0) ofStore.delete(stream);
  }
}

function patiently(turn: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    void turn.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
