import type { EntriesWithoutValue } from '../../../application/ports/entries-without-value.ts';
import { isManyToMany } from '../../../domain/content/field-types.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { tableOf } from './entry-json.ts';

/** Finds the entries, without deleted ones, that have no value in a field (port `EntriesWithoutValue`). */
export function createEntriesWithoutValue({ database }: { readonly database: Database }): EntriesWithoutValue {
  return {
    async page(type, { key, definition }, { after, limit }) {
      const column = quoteIdentifier(key);
      const empty = isManyToMany(definition) ? `coalesce(cardinality(${column}), 0) = 0` : `${column} is null`;
      const rows = await database.query<{ id: string }>(
        `select id::text as id from ${tableOf(type)}
         where tenant_id = $1 and "_deleted_at" is null and ${empty} and ($2::uuid is null or id > $2::uuid)
         order by id limit $3`,
        [type.tenant, after ?? null, limit],
      );
      return rows.map(({ id }) => id);
    },
  };
}
