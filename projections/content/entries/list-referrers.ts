import type { Referrer } from '../../../application/ports/entry-rows.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import type { EntryState } from '../../../domain/content/entry-state.ts';
import { isManyToMany } from '../../../domain/content/field-types.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE, readContentTypes } from '../content-types/rows.ts';
import { COMPLETE, entryJson, tableOf } from './entry-json.ts';
import { TENANT } from './related-rows.ts';
import { MAX_RESPONSE_BYTES } from './response-size.ts';

const PAGE = 1000;
/** A page is full after this many bytes of JSON text. */
const PAGE_BYTES = MAX_RESPONSE_BYTES;

/**
 * Lists the entries with a relation to one entry of the type `target`, sorted by type and id, in pages of at most 1000
 * entries and about 16 MiB. With `required`, only through relations that must have a value and would lose their last
 * one. `toState` parses the JSON text of a complete entry.
 */
export async function* listReferrers(
  queryable: Queryable,
  {
    target,
    id,
    required = false,
    toState,
  }: {
    readonly target: ContentType;
    readonly id: string;
    readonly required?: boolean | undefined;
    readonly toState: (type: ContentType, json: string) => EntryState;
  },
): AsyncIterable<readonly Referrer[]> {
  let page: Referrer[] = [];
  let bytes = 0;
  for (const type of await referringTypes(queryable, target)) {
    const text = referrersSql(type, target, required);
    if (text === undefined) continue;
    for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
      const rows = await queryable.query<{ json: string; bytes: number; found: number }>(text, [
        type.tenant,
        id,
        after,
        PAGE - page.length,
        PAGE_BYTES - bytes,
      ]);
      page.push(...rows.map(({ json }) => ({ type, entry: toState(type, json) })));
      const last = rows.at(-1);
      bytes += last?.bytes ?? 0;
      if (page.length < PAGE && bytes < PAGE_BYTES && rows.length === (last?.found ?? 0)) break;
      after = page.at(-1)?.entry.id ?? after;
      yield page;
      page = [];
      bytes = 0;
    }
  }
  if (page.length > 0) yield page;
}

/**
 * Content types with a relation to the target. The database searches the definitions, so that a deletion does not load
 * all of them.
 */
async function referringTypes(queryable: Queryable, { tenant, name }: ContentType): Promise<readonly ContentType[]> {
  const found = await queryable.query<{ type_id: string }>(
    `select type_id from ${LIVE}._content_types where tenant_id = $1 and deleted_at is null
       and jsonb_path_exists(definition::jsonb, '$.fields[*] ? (@.relation_to == $name)',
         jsonb_build_object('name', $2::text))`,
    [tenant, name],
    'content-types-referring',
  );
  return found.length === 0
    ? []
    : readContentTypes(queryable, LIVE, { tenant, live: true, typeIds: found.map((row) => row.type_id) });
}

/**
 * SQL of one page of referrers with the bytes of their texts up to each, and their number before the page is cut at its
 * size; undefined for a type without such a relation. The entry itself is left out.
 */
function referrersSql(type: ContentType, target: ContentType, required: boolean): string | undefined {
  const conditions = storedFields(type.definition)
    .filter(
      ({ definition }) =>
        definition.field_type === 'relation' &&
        definition.relation_to === target.name &&
        (!required || definition.required === true),
    )
    .map(({ key, definition }) => {
      const column = `t.${quoteIdentifier(key)}`;
      if (!isManyToMany(definition)) return `(${column} = $2::uuid and t.tenant_id = ${TENANT})`;
      return `${column} @> array[$2::uuid]${required ? ` and ${column} = array[$2::uuid]` : ''}`;
    });
  if (conditions.length === 0) return undefined;
  const texts =
    `select ${entryJson(type, COMPLETE)} as json from ${tableOf(type)} t
     where (${conditions.join(' or ')}) and t.tenant_id = ${TENANT} ` +
    `and t._deleted_at is null and t.id <> $2::uuid and t.id > $3::uuid order by t.id limit $4::int8`;
  const measured = `select json, sum(octet_length(json)) over (rows unbounded preceding) as bytes,
    count(*) over () as found from (${texts}) b`;
  return `select json, bytes, found from (${measured}) b where bytes - octet_length(json) < $5::int8`;
}
