/** Calls `work` at intervals of `ms` until the returned function is called. */
export type Every = (ms: number, work: () => Promise<void>) => () => void;

/** Timers of the process; they do not keep it alive. */
export const atIntervals: Every = (ms, work) => {
  const timer = setInterval(() => void work(), ms);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
};
