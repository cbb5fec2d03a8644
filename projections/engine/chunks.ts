/**
 * Number of tables that one transaction of a rebuild reads or changes. A table may have hundreds of indexes; each of
 * them needs a lock too.
 */
export const TABLES_PER_TRANSACTION = 10;

/** The items in their order, in lists of at most `size`. */
export function chunksOf<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
