import type { StoredContentType } from '../../../domain/content/content-type.ts';
import type { ContentTypeDefinition, FieldDefinition } from '../../../domain/content/definition.ts';
import type { FieldNames } from '../../../domain/content/field-history.ts';
import type { PendingStatement } from '../../../domain/content/schema-diff.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';

/** Schema of the live read model, quoted for SQL. */
export const LIVE = '"rm_content"';

/** Format for `to_char` that gives an RFC 3339 time; the value must be in UTC. */
export const TIMESTAMP_FORMAT = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** Selects content types; every given member must match. `live: true` leaves out deleted types. */
export type ContentTypeQuery = {
  readonly tenant?: string;
  readonly name?: string;
  readonly typeIds?: readonly string[];
  readonly live?: boolean;
};

type Row = {
  readonly type_id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly revision: number;
  readonly definition: ContentTypeDefinition;
  readonly retained: readonly FieldDefinition[];
  readonly field_names: readonly FieldNames[];
  readonly deleted_at: string | null;
  readonly pending: readonly PendingStatement[];
  readonly canceled: number;
};

/**
 * Reads content types with their pending statements, sorted by name. For one tenant and name, the live type comes
 * first, then the deleted ones in the order of their deletion. `schema` is quoted for SQL.
 */
export async function readContentTypes(
  queryable: Queryable,
  schema: string,
  query: ContentTypeQuery,
): Promise<readonly StoredContentType[]> {
  const rows = await queryable.query<Row>(
    `select type_id, tenant_id, name, revision, definition, retained, field_names,
     to_char(deleted_at at time zone 'UTC', ${TIMESTAMP_FORMAT}) as deleted_at,
       coalesce((select json_agg(json_build_object('id', s.id, 'operation', s.operation) order by s.revision, s.ordinal)
                 from ${schema}._statements s where s.type_id = t.type_id and s.state in ('pending', 'failed')),
                   '[]') as pending,
       (select count(*) from ${schema}._statements s
         where s.type_id = t.type_id and s.state = 'canceled' and s.settled_revision > t.applied_revision) as canceled
     from ${schema}._content_types t
     where ($1::text is null or tenant_id = $1) and ($2::text is null or name = $2)
       and ($3::uuid[] is null or type_id = any ($3))
       and (not $4 or deleted_at is null)
     order by name, tenant_id, t.deleted_at nulls first, type_id`,
    [query.tenant ?? null, query.name ?? null, query.typeIds ?? null, query.live ?? false],
    `content-types-${schema}`,
  );
  return rows.map((row) => ({
    id: row.type_id,
    tenant: row.tenant_id,
    name: row.name,
    revision: row.revision,
    definition: row.definition,
    fieldNames: row.field_names,
    retained: row.retained,
    pending: row.pending,
    canceled: row.canceled,
    deleted: row.deleted_at !== null,
    deletedAt: row.deleted_at ?? undefined,
  }));
}

/**
 * Reads content types by id. A type that was deleted with its entries is missing; one that was deleted with
 * `content=soft` is included, because its rows still exist. `schema` is quoted for SQL.
 */
export async function contentTypesById(
  queryable: Queryable,
  schema: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredContentType>> {
  if (ids.length === 0) return new Map();
  return new Map((await readContentTypes(queryable, schema, { typeIds: ids })).map((type) => [type.id, type]));
}
