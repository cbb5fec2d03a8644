import type { ContentType } from '../../../domain/content/content-type.ts';
import type { StoredField } from '../../../domain/content/entry-fields.ts';
import { isManyToMany } from '../../../domain/content/field-types.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { tableOf } from './entry-json.ts';

/** Finds living entries without a value (port `EntriesWithoutValue`). */
export function entriesWithoutValue(database: Queryable) {
  return {
    async page(type: ContentType, { key, definition }: StoredField, { after, limit }: { readonly after: string | undefined; readonly limit: number }): Promise<readonly string[]> {
      const column = quoteIdentifier(key);
      const empty = isManyToMany(definition) ? `coalesce(cardinality(${column}), 0) = 0` : `${column} is null`;
      const rows = await database.query<{ id: string }>(
        `select id::text as id from ${tableOf(type)} where tenant_id = $1 and "_deleted_at" is null and ${empty} and ($2::uuid is null or id > $2::uuid) order by id limit $3`,
        [type.tenant, after ?? null, limit],
      );
      return rows.map(({ id }) => id);
    },
  };
}
