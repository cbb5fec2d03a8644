/** Work that never runs twice at the same time. */
export type SharedRun<T> = {
  /** Runs the work; calls made during a run share it. @returns the result of the run */
  readonly run: () => Promise<T>;
  /** The result of the run that goes on; undefined between two runs. */
  readonly current: () => Promise<T> | undefined;
};

export function createSharedRun<T>(work: () => Promise<T>): SharedRun<T> {
  let running: Promise<T> | undefined;
  return {
    run: () =>
      (running ??= work().finally(() => {
        running = undefined;
      })),
    current: () => running,
  };
}
