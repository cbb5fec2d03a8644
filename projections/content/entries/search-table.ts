import { chunks } from '../../../domain/chunks.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { InTransaction, Target } from '../../engine/projection.ts';
import { TABLES_PER_TRANSACTION } from '../../engine/tables-per-transaction.ts';
import { tableOf } from './entry-json.ts';
import { rowVectorSql, searchedKeys } from './search-vector.ts';

/**
 * Table with the words of all entries for full-text search. It is separate from the typed tables, so that an update
 * that does not change a text does not touch it. Each row also contains one word that names its type, so that a search
 * can use the index for the entries of one type.
 */
export const SEARCH = '_search';

/**
 * Creates the table. In a bulk target it stays empty and has no index until `buildSearchIndex`, so that only the final
 * texts are indexed.
 */
export async function createSearchTable(tx: Transaction, { schema, bulk }: Target): Promise<void> {
  await tx.query(
    `create table ${schema}.${SEARCH} (entry_id uuid primary key, type_id uuid not null, tenant_id text not null,
     words tsvector not null)`,
  );
  if (bulk !== true) await createIndex(tx, schema);
}

/** Indexes the texts of all entries and creates the index. `types`: all types, including deleted ones. */
export async function buildSearchIndex(
  run: InTransaction,
  target: Target,
  types: readonly ContentType[],
): Promise<void> {
  for (const chunk of chunks(types, TABLES_PER_TRANSACTION))
    await run(async (tx) => {
      for (const type of chunk) await indexEntriesOfType(tx, target, { type });
    });
  await run((tx) => createIndex(tx, target.schema));
}

/** Creates the GIN index with a short pending list (256 KiB), because every search scans that list. */
async function createIndex(tx: Transaction, schema: string): Promise<void> {
  await tx.query(
    `create index if not exists ${SEARCH}_words on ${schema}.${SEARCH} using gin (words)
     with (gin_pending_list_limit = 256)`,
  );
}

/** The word that names a type. It contains a control character, so no text contains it. */
export function typeWord(type: Pick<ContentType, 'id'>): string {
  return `\u0001${type.id}`;
}

/** Indexes the current texts of these entries. Does nothing in a bulk target. */
export async function indexEntries(
  tx: Transaction,
  { schema, bulk }: Target,
  { type, ids }: { readonly type: ContentType; readonly ids: readonly string[] },
): Promise<void> {
  if (ids.length > 0 && bulk !== true)
    await tx.execute(indexSql(schema, type, ' and t.id = any($3::uuid[])'), [type.tenant, typeWord(type), ids]);
}

/**
 * Indexes the current texts of a type's entries, or of those that match an SQL condition over the alias `t`. Does
 * nothing in a bulk target.
 */
export async function indexEntriesOfType(
  tx: Transaction,
  { schema, bulk }: Target,
  { type, condition }: { readonly type: ContentType; readonly condition?: string | undefined },
): Promise<void> {
  if (bulk === true) return;
  await tx.execute(indexSql(schema, type, condition === undefined ? '' : ` and (${condition})`), [
    type.tenant,
    typeWord(type),
  ]);
}

function indexSql(schema: string, type: ContentType, condition: string): string {
  const words = `${rowVectorSql(schema, searchedKeys(type.definition), 't')} || array_to_tsvector(array[$2::text])`;
  return (
    `insert into ${schema}.${SEARCH} (entry_id, type_id, tenant_id, words)
     select t.id, '${type.id}'::uuid, t.tenant_id, ${words} from ${tableOf(type, schema)} t ` +
    `where t.tenant_id is not distinct from $1${condition}
     on conflict (entry_id) do update set type_id = excluded.type_id, words = excluded.words`
  );
}

/** Removes entries from the index. */
export async function unindexEntries(tx: Transaction, { schema }: Target, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.execute(`delete from ${schema}.${SEARCH} where entry_id = any($1::uuid[])`, [ids]);
}

/** Removes the entries of a type whose rows a pending statement has deleted from the index. */
export async function unindexMissingEntries(tx: Transaction, { schema }: Target, type: ContentType): Promise<void> {
  await tx.execute(
    `delete from ${schema}.${SEARCH} s
     where s.type_id = $1 and not exists (select 1 from ${tableOf(type, schema)} t where t.id = s.entry_id)`,
    [type.id],
  );
}

/** Removes the entries of permanently deleted types from the index. */
export async function unindexTypes(tx: Transaction, { schema }: Target, typeIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from ${schema}.${SEARCH} where type_id = any($1::uuid[])`, [typeIds]);
}
