import { isStored } from './field-types.ts';
import type { TableUse } from './schema-diff.ts';
import { tableShape } from './table-shape.ts';

/**
 * Maximum number of columns of one tenant's content type in the table of its name, which the tenants share: current
 * fields, and removed fields whose pending statement has not run. PostgreSQL allows 1,600 columns in a table, so one
 * type leaves more than half of them to the other tenants.
 */
export const MAX_COLUMNS = 750;

/**
 * Maximum number of columns of a shared table to which a type with more than `SMALL_TYPE` columns may add. The columns
 * above it are left for the small types of other tenants.
 */
export const MAX_SHARED_COLUMNS = 1_400;
export const SMALL_TYPE = 50;

/** How a change of a content type exceeds the quota of columns. */
export type ExceededQuota = { readonly current: number; readonly removed: number };

/**
 * Compares a content type after a change with the quota of columns. A type that was over the quota before may change as
 * long as it needs no more columns.
 * @param before Undefined for a new type.
 * @returns undefined when the type is within the quota
 */
export function exceededQuota(before: TableUse | undefined, after: TableUse): ExceededQuota | undefined {
  const [current, removed] = [columnsIn(after.fields), columnsIn(after.retained)];
  const previous = before ? columnsIn(before.fields) + columnsIn(before.retained) : 0;
  return current + removed <= Math.max(MAX_COLUMNS, previous) ? undefined : { current, removed };
}

/**
 * Whether a type with more than `SMALL_TYPE` columns would add to a table above `MAX_SHARED_COLUMNS`.
 * @param others The types of other tenants in the table.
 */
export function exceedsShare(
  { before, after }: { readonly before: TableUse | undefined; readonly after: TableUse },
  others: readonly TableUse[],
): boolean {
  if (columnsIn(after.fields) + columnsIn(after.retained) <= SMALL_TYPE) return false;
  const total = columnsOfTable([after, ...others]);
  return total > MAX_SHARED_COLUMNS && total > columnsOfTable(before ? [before, ...others] : others);
}

function columnsOfTable(uses: readonly TableUse[]): number {
  return tableShape(uses)?.columns.length ?? 0;
}

function columnsIn(fields: TableUse['fields']): number {
  return fields.filter(isStored).length;
}
