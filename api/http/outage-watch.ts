/** Why requests are failed: the database does not answer, or the process must end after an error. */
export type FailureCause = 'outage' | 'fault';

/** Requests that are being handled, failed together when the database does not answer or the process must end. */
export type OutageWatch = {
  /**
   * Runs the work of a request.
   * @param refusal the error of the request when it is failed
   * @throws what `work` throws; `refusal()` when `work` is still running and the database does not answer, or `failAll`
   *   is called
   */
  run<T>(work: () => Promise<T>, refusal: (cause: FailureCause) => Error): Promise<T>;
  /** Fails every request that is being handled, because the process must end after an error. */
  failAll(): void;
};

export type OutageWatchOptions = {
  /** Whether the database answers. Settles within 2 seconds and never rejects. */
  readonly isReachable: () => Promise<boolean>;
  /** Time in milliseconds after which a request makes the watch check the database. Default 1,500. */
  readonly patienceMs?: number;
};

const TICK_MS = 500;

/**
 * Creates the watch. A database whose server does not answer, or whose network drops packets, refuses no connection
 * and ends none, so that a statement would wait without end. One timer serves all requests, because most requests end
 * before its first tick.
 */
export function createOutageWatch({ isReachable, patienceMs = 1_500 }: OutageWatchOptions): OutageWatch {
  type Waiting = { readonly since: number; readonly fail: (cause: FailureCause) => void };
  /** In the order of their beginning. */
  const waiting = new Set<Waiting>();
  let timer: NodeJS.Timeout | undefined;
  let checking = false;

  async function tick(): Promise<void> {
    const [oldest] = waiting;
    if (!oldest) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    if (checking || performance.now() - oldest.since < patienceMs) return;
    checking = true;
    const begun = performance.now();
    const reachable = await isReachable();
    checking = false;
    if (reachable) return;
    for (const request of waiting) if (request.since <= begun) request.fail('outage');
  }

  return {
    failAll() {
      for (const request of waiting) request.fail('fault');
    },
    run: (work, refusal) =>
      new Promise((resolve, reject) => {
        const request: Waiting = {
          since: performance.now(),
          fail(cause) {
            waiting.delete(request);
            reject(refusal(cause));
          },
        };
        waiting.add(request);
        timer ??= setInterval(() => void tick(), TICK_MS).unref();
        work().then(
          (value) => {
            waiting.delete(request);
            resolve(value);
          },
          (error: unknown) => {
            waiting.delete(request);
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      }),
  };
}
