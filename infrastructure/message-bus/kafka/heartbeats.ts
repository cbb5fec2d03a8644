/** Heartbeats sent while a handler works. */
export type Heartbeats = {
  /** The error that a heartbeat got from the broker, such as a rebalance; none are sent after it. */
  failure(): Error | undefined;
  end(): void;
};

/** Calls `beat` every `intervalMs` milliseconds, one call at a time, until it fails or is ended. */
export function startHeartbeats(beat: () => Promise<void>, intervalMs: number): Heartbeats {
  let failure: Error | undefined;
  let beating = false;
  const timer = setInterval(() => {
    if (beating || failure) return;
    beating = true;
    beat()
      .catch((error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
      })
      .finally(() => {
        beating = false;
      });
  }, intervalMs);
  return {
    failure: () => failure,
    end() {
      clearInterval(timer);
    },
  };
}
