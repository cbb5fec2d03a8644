/** ETag of a version of an entry (spec 4, concurrency). */
export function entityTag(version: number): string {
  return `"${version}"`;
}

/**
 * Versions that `If-Match` names. `*` and a missing header name none: undefined. A tag that is no version matches nothing.
 * Weakened tags count: proxies that compress weaken them.
 */
export function expectedVersions(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').flatMap((tag) => {
    const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(tag.trim());
    return match ? [Number(match[1])] : [];
  });
}

/** Whether `If-None-Match` says that the caller has this version. */
export function isKnown(header: string | undefined, version: number): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || (expectedVersions(header)?.includes(version) ?? false);
}
