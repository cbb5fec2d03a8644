/** Work that runs one after another, in the order of the calls. */
export type Mutex = {
  /** Runs the work after all earlier work, also when that failed. @returns the result of the work */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many pieces of work run or wait. */
  count(): number;
};

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;
  return {
    run(work) {
      count += 1;
      const result = last.then(work).finally(() => {
        count -= 1;
      });
      last = result.catch(() => undefined);
      return result;
    },
    count: () => count,
  };
}
