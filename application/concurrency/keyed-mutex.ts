import { type Mutex, createMutex } from './mutex.ts';

/** Work that runs one after another with other work of the same key, in the order of the calls. */
export type KeyedMutex = {
  /** Runs the work after all earlier work of the key, also when that failed. @returns the result of the work */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** How many pieces of work of the key run or wait. */
  count(key: string): number;
};

/** Creates turns that keep nothing of a key without work. */
export function createKeyedMutex(): KeyedMutex {
  const byKey = new Map<string, Mutex>();
  return {
    async run(key, work) {
      const mutex = byKey.get(key) ?? createMutex();
      byKey.set(key, mutex);
      try {
        return await mutex.run(work);
      } finally {
        if (mutex.count() === 0) byKey.delete(key);
      }
    },
    count: (key) => byKey.get(key)?.count() ?? 0,
  };
}
