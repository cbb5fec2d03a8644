import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { FieldDefinition } from '../../domain/content/definition.ts';
import type { TableUse } from '../../domain/content/schema-diff.ts';
import { findConflict } from '../../domain/content/shared-table-conflict.ts';
import { tableUseOf } from '../../domain/content/table-shape.ts';
import { type AppError, refusal } from '../../domain/errors.ts';

/** What the types of other tenants keep in a table. `types`: all content types with the table's name. */
export function otherTableUses(types: readonly StoredContentType[], tenant: string): readonly TableUse[] {
  return types.filter((type) => !type.deleted && type.tenant !== tenant).map(tableUseOf);
}

/** The fields that a table holds for these types, including those whose values are kept after their removal. */
function fieldsOf(uses: readonly TableUse[]): readonly FieldDefinition[] {
  return uses.flatMap(({ fields, retained }) => [...fields, ...retained]);
}

/** @throws `schema_table_shared` when another type in the table stores one of the fields differently */
export function requireShareable(fields: readonly FieldDefinition[], others: readonly TableUse[]): void {
  const conflict = findConflict(fields, fieldsOf(others));
  if (conflict !== undefined) throw sharedTableRefusal(conflict);
}

/** The refusal of a definition that conflicts with another tenant's type in the same table. */
export function sharedTableRefusal(conflict: string): AppError {
  return refusal('schema_table_shared', {
    message: `another schema shares this table and defines it differently: ${conflict}`,
  });
}
