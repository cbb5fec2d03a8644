import type { SchemaStatement } from '../../../domain/content/schema-statement.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { StatementRecord } from '../../../projections/content/content-types/queries.ts';

/** A statement record as JSON; `reason` only for a failed statement. */
export function presentStatement({
  id,
  description,
  sql,
  down_sql,
  destructive,
  state,
  applied_at,
  created_at,
  actor,
  reason,
}: StatementRecord): JsonObject {
  return {
    id,
    description,
    sql,
    down_sql,
    destructive,
    state,
    applied_at,
    created_at,
    actor,
    ...(reason === null ? {} : { reason }),
  };
}

/** A statement of a preview as JSON. `marked`: says whether it is destructive. */
export function presentPlanned(
  { description, sql, down_sql, destructive }: SchemaStatement,
  marked: boolean,
): JsonObject {
  return { description, sql, down_sql, ...(marked && destructive === true ? { destructive } : {}) };
}
