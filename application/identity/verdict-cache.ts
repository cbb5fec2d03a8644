/** A bounded map, such as an LRU. */
export type BoundedMap<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): unknown };

/** What was found out about a credential, and until when (ms since the epoch) it may be believed without asking again. */
export type Verdict<Value> = { readonly value: Value; readonly untilMs: number };

type Entry<Value> = Verdict<Value> & { readonly generation: number };

export type VerdictCache<Value> = {
  /** The cached value, without a promise where there is one; else that of `load`, which runs once however many ask at once. */
  get(key: string, load: () => Promise<Verdict<Value>>): Value | Promise<Value>;
  /** Makes everything known so far doubtful: it is loaded anew when it is asked for. */
  invalidate(): void;
};

/**
 * Remembers verdicts on credentials. Good and bad ones live apart, so that a flood of made-up keys pushes no real key out. A verdict
 * whose loading began before an invalidation is doubtful when it arrives.
 */
export function createVerdictCache<Value>({ good, bad, isGood, nowMs }: {
  readonly good: BoundedMap<Verdict<Value> & { readonly generation: number }>;
  readonly bad: BoundedMap<Verdict<Value> & { readonly generation: number }>;
  readonly isGood: (value: Value) => boolean;
  readonly nowMs: () => number;
}): VerdictCache<Value> {
  let generation = 0;
  let loading = new Map<string, Promise<Value>>();

  function fresh(entry: Entry<Value> | undefined): entry is Entry<Value> {
    return entry !== undefined && entry.generation === generation && entry.untilMs > nowMs();
  }

  async function loadOnce(key: string, load: () => Promise<Verdict<Value>>): Promise<Value> {
    const begun = generation;
    const running = loading;
    try {
      const { value, untilMs } = await load();
      (isGood(value) ? good : bad).set(key, { value, untilMs, generation: begun });
      return value;
    } finally {
      running.delete(key);
    }
  }

  return {
    get(key, load) {
      const known = good.get(key);
      if (fresh(known)) return known.value;
      const refused = bad.get(key);
      if (fresh(refused)) return refused.value;
      const running = loading.get(key);
      if (running) return running;
      const started = loadOnce(key, load);
      loading.set(key, started);
      return started;
    },
    invalidate() {
      generation += 1;
      // Loads on their way may have read the state of before: nobody joins them any more.
      loading = new Map();
    },
  };
}
