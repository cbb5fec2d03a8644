/** A name that may become an SQL identifier: content types, fields, the project's own schemas and tables. */
const NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * The one quoting function of identifiers. PostgreSQL cuts identifiers at 63 bytes, so longer ones are refused.
 * @throws RangeError for anything that is no plain lower-case name
 */
export function quoteIdentifier(name: string): string {
  if (!NAME.test(name) || name.length > 63) throw new RangeError(`not an identifier: ${JSON.stringify(name.slice(0, 80))}`);
  return `"${name}"`;
}
