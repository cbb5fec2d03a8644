export type Waker = {
  /** Ends the wait that runs now; without one, the next wait ends at once. */
  readonly wake: () => void;
  /** Forgets an earlier `wake`: a caller that looks for work now needs no second look for it. */
  reset(): void;
  /**
   * Waits until woken, for at most `timeoutMs` milliseconds. One caller waits at a time.
   * @returns true when woken; false after `timeoutMs`
   */
  wait(timeoutMs?: number): Promise<boolean>;
};

/** Creates a pause of a loop that a signal ends early. A signal between two waits is not lost. */
export function createWaker(): Waker {
  let woken = false;
  let end: (() => void) | undefined;
  return {
    wake() {
      if (end) end();
      else woken = true;
    },
    reset() {
      woken = false;
    },
    wait(timeoutMs) {
      if (woken) {
        woken = false;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        function finish(byWake: boolean): void {
          clearTimeout(timer);
          end = undefined;
          resolve(byWake);
        }
        const timer = timeoutMs === undefined ? undefined : setTimeout(finish, timeoutMs, false);
        end = () => {
          finish(true);
        };
      });
    },
  };
}
