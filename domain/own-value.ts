/**
 * The value of the record's own property; undefined when it has none. `record[key]` would also find what every object
 * inherits: `constructor`, `toString` and the like, which are valid names of fields, content types and tenants.
 */
export function ownValue<Value>(record: { readonly [key: string]: Value }, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
