/** Splits a list into parts of at most `size` items, in order. */
export function* chunks<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
