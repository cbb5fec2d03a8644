/** Entity tags of responses, and the conditional headers `If-Match` and `If-None-Match` that name them. */

/** The ETag of a version of an entry. */
export function entityTag(version: number): string {
  return `"${version}"`;
}

/**
 * The versions that `If-Match` names. Undefined, for a missing header or `*`, accepts every version. A tag that is not
 * a version matches nothing. Weak tags (`W/"3"`) count, because a proxy that compresses a response weakens its tag.
 */
export function expectedVersions(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header.split(',').flatMap((tag) => {
    const match = /^(?:W\/)?"?(\d{1,15})"?$/.exec(tag.trim());
    return match ? [Number(match[1])] : [];
  });
}

/** Whether `If-None-Match` names this version of an entry; `*` names every version. */
export function matchesVersion(header: string | undefined, version: number): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || (expectedVersions(header)?.includes(version) ?? false);
}

/** Whether `If-None-Match` names this tag of a document. Weak tags count; `*` names every tag. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));
}
