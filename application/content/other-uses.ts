import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { TableUse } from '../../domain/content/schema-diff.ts';
import { useOf } from '../../domain/content/table-shape.ts';
import { refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';

/** What the other tenants' types keep in a table that has the name of all of them. */
export function otherUses(named: readonly StoredContentType[], tenant: string): readonly TableUse[] {
  return named.filter((type) => !type.deleted && type.tenant !== tenant).map(useOf);
}

/** The refusal of a definition that another tenant's table can't hold (spec 2, errors of schema routes). */
export function sharedDifferently(conflict: string): AppError {
  return refusal('schema_table_shared', { message: `another schema shares this table and defines it differently: ${conflict}` });
}
