import type { TableDigest } from './digest.ts';

export type TableDifference = { readonly table: string; readonly live?: TableDigest; readonly rebuilt?: TableDigest };

/** The tables whose digests differ, by name. */
export function compareDigests(
  live: readonly TableDigest[],
  rebuilt: readonly TableDigest[],
): readonly TableDifference[] {
  const [before, after] = [live, rebuilt].map(
    (digests) => new Map(digests.map((digested) => [digested.table, digested])),
  );
  const names = new Set([...live, ...rebuilt].map(({ table }) => table));
  return [...names].toSorted().flatMap((table) => {
    const [one, other] = [before?.get(table), after?.get(table)];
    if (one && other && one.rows === other.rows && one.checksum === other.checksum) return [];
    return [{ table, ...(one ? { live: one } : {}), ...(other ? { rebuilt: other } : {}) }];
  });
}
