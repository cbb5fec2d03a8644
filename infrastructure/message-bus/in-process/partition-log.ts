import { createMutex } from '../../../application/concurrency/mutex.ts';
import type { Message } from '../../../application/ports/message-bus.ts';

/** A condition that callers can wait for. */
export type Change = { wait(): Promise<void>; happened(): void };

/** Creates a change. `happened` wakes each waiter once. */
function change(): Change {
  let waiters: (() => void)[] = [];
  return {
    wait: () => new Promise((resolve) => waiters.push(resolve)),
    happened() {
      const woken = waiters;
      waiters = [];
      for (const wake of woken) wake();
    },
  };
}

/** The last `capacity` messages of one partition, each at its offset. */
export type PartitionLog = {
  readonly topic: string;
  readonly partition: number;
  /** Appends messages in order, each once there is room. Concurrent calls keep their order. */
  append(messages: readonly Message[]): Promise<void>;
  /** The message at `offset`, or the oldest one kept if it was dropped; undefined when there is none yet. */
  read(offset: number): { readonly offset: number; readonly message: Message } | undefined;
  /** Happens when messages arrive or readers advance. */
  readonly changed: Change;
};

export type PartitionLogOptions = {
  readonly topic: string;
  readonly partition: number;
  readonly capacity: number;
  /** Lowest offset that a running consumer still has to read. A full log waits for it. */
  readonly slowest: () => number | undefined;
  /** Called when a message is dropped that a group without members has not read. */
  readonly onOverflow: () => void;
  /** Whether a group still has to read the message at `offset`. */
  readonly needed: (offset: number) => boolean;
};

export function createPartitionLog(options: PartitionLogOptions): PartitionLog {
  const { topic, partition, capacity, slowest, needed, onOverflow } = options;
  const changed = change();
  let first = 0;
  let messages: Message[] = [];
  /**
   * Number of dropped messages at the front of `messages`. They are removed later, because removal at every append
   * would be quadratic.
   */
  let dropped = 0;
  const mutex = createMutex();

  return {
    topic,
    partition,
    changed,
    append: (added) => mutex.run(() => appendInTurn(added)),
    read(offset) {
      const from = Math.max(offset, first);
      const message = messages[from - first + dropped];
      return message && { offset: from, message };
    },
  };

  async function appendInTurn(added: readonly Message[]): Promise<void> {
    for (const message of added) {
      while (messages.length - dropped >= capacity) {
        const waitedFor = slowest();
        if (waitedFor !== undefined && waitedFor <= first) await changed.wait();
        else drop();
      }
      messages.push(message);
      changed.happened();
    }
  }

  function drop(): void {
    if (needed(first)) onOverflow();
    first += 1;
    dropped += 1;
    if (dropped < capacity) return;
    messages = messages.slice(dropped);
    dropped = 0;
  }
}
