import type { ContentType } from '../../../domain/content/content-type.ts';
import { tableNameOf } from '../../../domain/content/table-names.ts';
import type { Queryable, Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';
import { rowVectorSql, searchedKeys } from './search-vector.ts';

/**
 * Table of the read model that holds the words of all entries, beside their tables: an update that leaves the text alone has nothing to do with it. Every
 * row also holds one word that names its type, so that a search goes through the words of that type only.
 */
export const SEARCH = '_search';

/** Makes the table. In a bulk target it stays empty, and without its index, until `fillSearch`: words are taken apart once, of the last texts. */
export async function createSearch(tx: Transaction, { schema, bulk }: Target): Promise<void> {
  await tx.query(`create table ${schema}.${SEARCH} (entry_id uuid primary key, type_id uuid not null, tenant_id text not null, words tsvector not null)`);
  if (bulk !== true) await createIndex(tx, schema);
}

/** Takes apart the texts of all entries of these types, which are all there are, deleted ones too. */
export async function fillSearch(tx: Transaction, target: Target, types: readonly ContentType[]): Promise<void> {
  for (const type of types) await keepSearchOfType(tx, target, type, undefined);
  await createIndex(tx, target.schema);
}

/** The list of words that wait for their place in the index is short: readers go through it. */
async function createIndex(tx: Transaction, schema: string): Promise<void> {
  await tx.query(`create index if not exists ${SEARCH}_words on ${schema}.${SEARCH} using gin (words) with (gin_pending_list_limit = 256)`);
}

/** The word that names a type. No text has it: a text's words hold no control characters. */
export function typeWord(type: Pick<ContentType, 'id'>): string {
  return `\u0001${type.id}`;
}

/** Takes the texts of entries apart as their rows are now. */
export async function keepSearch(tx: Transaction, { schema, bulk }: Target, type: ContentType, ids: readonly string[]): Promise<void> {
  if (ids.length > 0 && bulk !== true) await tx.execute(keepSql(schema, type, ' and t.id = any($3::uuid[])'), [type.tenant, typeWord(type), ids]);
}

/** The same for all rows of a type, or those of which the condition (over the alias `t`) holds. */
export async function keepSearchOfType(tx: Transaction, { schema, bulk }: Target, type: ContentType, condition: string | undefined): Promise<void> {
  if (bulk === true) return;
  await tx.execute(keepSql(schema, type, condition === undefined ? '' : ` and (${condition})`), [type.tenant, typeWord(type)]);
}

function keepSql(schema: string, type: ContentType, condition: string): string {
  const words = `${rowVectorSql(schema, searchedKeys(type.definition), 't')} || array_to_tsvector(array[$2::text])`;
  return (
    `insert into ${schema}.${SEARCH} (entry_id, type_id, tenant_id, words) select t.id, '${type.id}'::uuid, t.tenant_id, ${words} from ${schema}.${quoteIdentifier(tableNameOf(type))} t ` +
    `where t.tenant_id is not distinct from $1${condition} on conflict (entry_id) do update set type_id = excluded.type_id, words = excluded.words`
  );
}

/** Forgets entries. */
export async function dropSearch(tx: Queryable, { schema }: Target, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.execute(`delete from ${schema}.${SEARCH} where entry_id = any($1::uuid[])`, [ids]);
}

/** Forgets the entries of a type whose rows a queued statement has taken away. */
export async function dropSearchWithoutRow(tx: Queryable, { schema }: Target, type: ContentType): Promise<void> {
  const rows = `${schema}.${quoteIdentifier(tableNameOf(type))}`;
  await tx.execute(`delete from ${schema}.${SEARCH} s where s.type_id = $1 and not exists (select 1 from ${rows} t where t.id = s.entry_id)`, [type.id]);
}

/** Forgets the entries of types that are deleted for good. */
export async function dropSearchOfTypes(tx: Queryable, { schema }: Target, typeIds: readonly string[]): Promise<void> {
  await tx.execute(`delete from ${schema}.${SEARCH} where type_id = any($1::uuid[])`, [typeIds]);
}
