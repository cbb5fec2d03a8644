/** Whether `If-None-Match` names this tag; weakened ones count, and `*` names every one. */
export function isOneOf(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((one) => ['*', tag].includes(one.trim().replace(/^W\//, '')));
}
