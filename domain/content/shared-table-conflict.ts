import type { FieldDefinition } from './definition.ts';
import { keyOf } from './entry-fields.ts';
import { columnTypeOf, isStored } from './field-types.ts';

/**
 * Finds a field that another content type in the same table stores differently.
 * @param foreign The fields of the other types, including those whose values are kept after their removal.
 * @returns the reason for the refusal; undefined when there is no conflict
 */
export function findConflict(
  fields: readonly FieldDefinition[],
  foreign: readonly FieldDefinition[],
): string | undefined {
  for (const field of fields.filter(isStored)) {
    const other = foreign.find(
      (type) =>
        isStored(type) &&
        (keyOf(type) === keyOf(field) || type.name === field.name) &&
        storage(type) !== storage(field),
    );
    if (other) return `field "${field.name}" is ${storage(other)} there and ${storage(field)} here`;
  }
  return undefined;
}

function storage(field: FieldDefinition): string {
  return `${keyOf(field) === field.name ? '' : `${keyOf(field)} `}${columnTypeOf(field)}`;
}
