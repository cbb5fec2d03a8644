import type { Message } from '../../../application/ports/message-bus.ts';

/** Something that changes, to be waited for. */
export type Change = { wait(): Promise<void>; happened(): void };

/** Makes a change that every waiter hears of once. */
export function change(): Change {
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

/** The messages of one partition, the last `capacity` of them, each at its offset. */
export type PartitionLog = {
  readonly topic: string;
  readonly partition: number;
  /** Adds messages in order, each as soon as there is room. Calls keep their order. */
  append(messages: readonly Message[]): Promise<void>;
  /** The message at `offset`, or the oldest one kept where that is gone; undefined where there is none yet. */
  read(offset: number): { readonly offset: number; readonly message: Message } | undefined;
  /** Messages came, or readers moved. */
  readonly changed: Change;
};

export type PartitionLogOptions = {
  readonly topic: string;
  readonly partition: number;
  readonly capacity: number;
  /** Lowest offset that a running consumer has still to read; the log waits for it when it is full. */
  readonly slowest: () => number | undefined;
  /** A message was dropped that a group without members has not read. */
  readonly onOverflow: () => void;
  readonly needed: (offset: number) => boolean;
};

export function partitionLog(options: PartitionLogOptions): PartitionLog {
  const { topic, partition, capacity, slowest, needed, onOverflow } = options;
  const changed = change();
  let first = 0;
  let messages: Message[] = [];
  /** Dropped from the front of `messages`, and not yet cut off: cutting at every append would be quadratic. */
  let gone = 0;
  let turn: Promise<void> = Promise.resolve();

  return {
    topic,
    partition,
    changed,
    append(added) {
      turn = turn.then(() => appendInTurn(added));
      return turn;
    },
    read(offset) {
      const from = Math.max(offset, first);
      const message = messages[from - first + gone];
      return message && { offset: from, message };
    },
  };

  async function appendInTurn(added: readonly Message[]): Promise<void> {
    for (const message of added) {
      while (messages.length - gone >= capacity) {
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
    gone += 1;
    if (gone < capacity) return;
    messages = messages.slice(gone);
    gone = 0;
  }
}
