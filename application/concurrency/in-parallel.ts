/**
 * Runs `work` on every item, on at most `limit` items at the same time. After the first error it starts no more work
 * and waits for the work that runs.
 * @returns the results in the order of the items
 * @throws the first error of `work`
 */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next && errors.length === 0; next = waiting.shift()) {
      try {
        results[next[0]] = await work(next[1]);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
  return results;
}
