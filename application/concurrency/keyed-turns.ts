import { type Turns, createTurns } from './turns.ts';

/** Work that runs one after another with other work of the same key, in the order of the calls. */
export type KeyedTurns = {
  /** Runs the work after all earlier work of the key, also when that failed. @returns the result of the work */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** How many pieces of work of the key run or wait. */
  count(key: string): number;
};

/** Creates turns that keep nothing of a key without work. */
export function createKeyedTurns(): KeyedTurns {
  const byKey = new Map<string, Turns>();
  return {
    async run(key, work) {
      const turns = byKey.get(key) ?? createTurns();
      byKey.set(key, turns);
      try {
        return await turns.run(work);
      } finally {
        if (turns.count() === 0) byKey.delete(key);
      }
    },
    count: (key) => byKey.get(key)?.count() ?? 0,
  };
}
