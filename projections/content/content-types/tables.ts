import { tableNameOf } from '../../../domain/content/table-name.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { ProjectedTable, Target } from '../../engine/projection.ts';
import { conversionFunctions } from './column-conversion.ts';
import { readContentTypes } from './rows.ts';

/**
 * Creates the tables of definitions and statements, and the functions that convert columns. Definitions are `json`, not
 * `jsonb`, to keep the order of their keys. The typed tables are created by the events of their types.
 */
export async function createContentTypeTables(tx: Transaction, target: Target): Promise<void> {
  const { schema } = target;
  await tx.query(`
    create table ${schema}._content_types (
      type_id uuid primary key,
      tenant_id text not null,
      name text not null,
      revision int8 not null,
      definition json not null,
      retained json not null,
      field_names json not null,
      applied_revision int8 not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      deleted_at timestamptz(3)
    );
    create index on ${schema}._content_types (tenant_id, name);
    create index on ${schema}._content_types (name);
    create table ${schema}._statements (
      id uuid primary key,
      tenant_id text not null,
      type_id uuid not null,
      revision int8 not null,
      ordinal int4 not null,
      description text not null,
      sql text not null,
      down_sql text not null,
      destructive boolean not null,
      operation json not null,
      state text not null,
      reason text,
      settled_revision int8 not null,
      created_at timestamptz(3) not null,
      applied_at timestamptz(3),
      actor json not null
    );
    create index on ${schema}._statements (type_id, revision, ordinal);
    create index on ${schema}._statements (tenant_id) where state in ('pending', 'failed')`);
  for (const statement of conversionFunctions(schema)) await tx.query(statement);
}

/**
 * The tables that exist now: definitions, statements, one table for each type name, and one for each type that was
 * deleted with `content=soft`.
 */
export async function contentTypeTables(tx: Transaction, target: Target): Promise<readonly ProjectedTable[]> {
  const types = await readContentTypes(tx, target.schema, {});
  const tables = new Set(types.map(tableNameOf));
  return ['_content_types', '_statements', ...[...tables].toSorted()].map((table) => ({ table }));
}
