import type { ReleaseRecord } from '../../../domain/content/release-record.ts';
import type { Queryable } from '../../../infrastructure/postgres/database.ts';

const SELECT = `select id, name, description, status, scheduled_at, items, refused, created_at, created_by, updated_at, published_at from rm_releases.releases`;

/** Queries of the read model of releases, bound to a database (port `Releases`). */
export function releaseQueries(database: Queryable) {
  return {
    list: (tenant: string, { limit, offset }: { readonly limit: number; readonly offset: number }): Promise<readonly ReleaseRecord[]> =>
      database.query<ReleaseRecord>(`${SELECT} where tenant_id = $1 order by created_at desc, id desc limit $2 offset $3`, [tenant, limit, offset]),
    count: async (tenant: string): Promise<number> =>
      (await database.query<{ readonly count: number }>('select count(*)::int as count from rm_releases.releases where tenant_id = $1', [tenant]))[0]?.count ?? 0,
    one: async (tenant: string, id: string): Promise<ReleaseRecord | undefined> => (await database.query<ReleaseRecord>(`${SELECT} where tenant_id = $1 and id = $2`, [tenant, id]))[0],
    due: (now: string): Promise<readonly { readonly tenant: string; readonly id: string }[]> =>
      database.query<{ tenant: string; id: string }>(
        `select tenant_id as tenant, id from rm_releases.releases
         where (status = 'scheduled' and scheduled_at <= $1) or status = 'publishing' order by scheduled_at limit 100`,
        [now],
      ),
  };
}
