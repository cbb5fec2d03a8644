/** A name that may become an SQL identifier: content type, field, schema or table. */
const NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * Quotes an SQL identifier. All SQL of the project uses this function. PostgreSQL truncates identifiers at 63 bytes, so
 * longer names are refused.
 * @throws RangeError when the name contains other characters than lower-case letters, digits and `_`, or is too long
 */
export function quoteIdentifier(name: string): string {
  if (!NAME.test(name) || name.length > 63)
    throw new RangeError(`not an identifier: ${JSON.stringify(name.slice(0, 80))}`);
  return `"${name}"`;
}
