/** Signs of life sent while a handler works. */
export type Heartbeats = {
  /** What the broker said to one of them, such as that the group is rebalancing; none are sent after it. */
  failure(): Error | undefined;
  end(): void;
};

/** Sends `beat` every `intervalMs`, one at a time, until it fails or is ended. */
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
