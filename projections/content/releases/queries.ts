import type { DueRelease, Releases } from '../../../application/ports/releases.ts';
import type { ReleaseRecord } from '../../../domain/content/release-record.ts';
import type { Database } from '../../../infrastructure/postgres/database.ts';

const SELECT = `select id, name, description, status, scheduled_at, items, refused, created_at, created_by, updated_at,
  published_at from rm_releases.releases`;

/** Queries of the read model of releases, bound to a database (port `Releases`). */
export function createReleaseQueries({ database }: { readonly database: Database }): Releases {
  return {
    list: (tenant, { limit, offset }) =>
      database.query<ReleaseRecord>(
        `${SELECT} where tenant_id = $1 order by created_at desc, id desc limit $2 offset $3`,
        [tenant, limit, offset],
      ),
    count: async (tenant) =>
      (
        await database.query<{ readonly count: number }>(
          'select count(*)::int as count from rm_releases.releases where tenant_id = $1',
          [tenant],
        )
      )[0]?.count ?? 0,
    one: async (tenant, id) =>
      (await database.query<ReleaseRecord>(`${SELECT} where tenant_id = $1 and id = $2`, [tenant, id]))[0],
    due: (now) =>
      database.query<DueRelease>(
        `select tenant_id as tenant, id from rm_releases.releases
         where (status = 'scheduled' and scheduled_at <= $1) or status = 'publishing' order by scheduled_at limit 100`,
        [now],
      ),
  };
}
