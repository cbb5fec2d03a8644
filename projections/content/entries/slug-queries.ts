import type { EntrySlugs } from '../../../application/ports/entry-slugs.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { numberedSlug } from '../../../domain/content/slug.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';
import { tableOf } from './entry-json.ts';

export type SlugQueries = EntrySlugs & {
  /** The entries with this slug, at most one for each type. */
  find(
    types: readonly ContentType[],
    slug: string,
  ): Promise<readonly { readonly type: ContentType; readonly id: string }[]>;
};

/** Look-ups by slug in the live read model, through its index of slugs. */
export function createSlugQueries({ database }: { readonly database: Database }): SlugQueries {
  return {
    async freeNumber(type, base) {
      const taken = (slug: string) =>
        `exists (select 1 from ${tableOf(type)} t
         where t.tenant_id = $1 and t."_slug" = ${slug} and t."_deleted_at" is null)`;
      const [row] = await database.query<{ readonly taken: number }>(
        `with recursive taken(n) as (
           select 1 where ${taken('$2')} union all select n + 1 from taken where ${taken('$3 || (n + 1)::text')}
         ) select coalesce(max(n), 0)::int4 as taken from taken`,
        [type.tenant, base, numberedSlug(base, 2).slice(0, -1)],
      );
      return (row?.taken ?? 0) + 1;
    },
    async find(types, slug) {
      if (types.length === 0) return [];
      const arms = types.map(
        (type, at) =>
          `(select ${at} as at, t.id::text as id from ${tableOf(type)} t
           where t.tenant_id = $1 and t."_slug" = $2 and t."_deleted_at" is null limit 1)`,
      );
      const rows = await database.query<{ readonly at: number; readonly id: string }>(arms.join(' union all '), [
        types[0]?.tenant,
        slug,
      ]);
      return rows.flatMap(({ at, id }) => {
        const type = types[at];
        return type ? [{ type, id }] : [];
      });
    },
  };
}
