/** The code of an error, such as a SQLSTATE or `ENOENT`. @returns undefined when it has none that is text */
export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
