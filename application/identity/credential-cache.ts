/** A bounded map, such as an LRU. */
export type BoundedMap<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): unknown };

/** The result of a credential check, and the time (ms since the epoch) after which it must be checked again. */
export type CheckResult<Value> = { readonly value: Value; readonly untilMs: number };

type Entry<Value> = CheckResult<Value> & { readonly generation: number };

export type CredentialCache<Value> = {
  /**
   * Returns the cached value synchronously when it is fresh; else the value of `load`, which runs once for concurrent
   * callers of one key.
   */
  get(key: string, load: () => Promise<CheckResult<Value>>): Value | Promise<Value>;
  /** Marks all entries stale; each is loaded again on its next use. */
  invalidate(): void;
};

/**
 * Caches the results of credential checks. Accepted and refused credentials have separate maps, so that a flood of
 * invalid keys evicts no valid key. A result is stale at once when its load began before the last invalidation.
 */
export function createCredentialCache<Value>({
  accepted,
  refused,
  isAccepted,
  nowMs,
}: {
  readonly accepted: BoundedMap<Entry<Value>>;
  readonly refused: BoundedMap<Entry<Value>>;
  readonly isAccepted: (value: Value) => boolean;
  readonly nowMs: () => number;
}): CredentialCache<Value> {
  let generation = 0;
  let loading = new Map<string, Promise<Value>>();

  function isFresh(entry: Entry<Value> | undefined): entry is Entry<Value> {
    return entry !== undefined && entry.generation === generation && entry.untilMs > nowMs();
  }

  async function loadOnce(key: string, load: () => Promise<CheckResult<Value>>): Promise<Value> {
    const begun = generation;
    const running = loading;
    try {
      const { value, untilMs } = await load();
      (isAccepted(value) ? accepted : refused).set(key, { value, untilMs, generation: begun });
      return value;
    } finally {
      running.delete(key);
    }
  }

  return {
    get(key, load) {
      const valid = accepted.get(key);
      if (isFresh(valid)) return valid.value;
      const invalid = refused.get(key);
      if (isFresh(invalid)) return invalid.value;
      const running = loading.get(key);
      if (running) return running;
      const started = loadOnce(key, load);
      loading.set(key, started);
      return started;
    },
    invalidate() {
      generation += 1;
      // Running loads may have read the state before the change: no later caller may join them.
      loading = new Map();
    },
  };
}
