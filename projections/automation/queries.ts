import type { StoredWebhook, Webhooks } from '../../application/ports/webhooks.ts';
import type { Database } from '../../infrastructure/postgres/database.ts';

const SELECT = `select id, tenant_id, name, url, events, schemas, enabled, headers, include_fields, exclude_fields,
  max_response_size, secret, created_at, updated_at
  from rm_automation.webhooks`;

/** Queries of the read model `automation`. */
export function createWebhookQueries({ database }: { readonly database: Database }): Webhooks {
  return {
    list: (tenant, page) =>
      database.query<StoredWebhook>(`${SELECT} where tenant_id = $1 order by created_at, id limit $2 offset $3`, [
        tenant,
        page?.limit ?? null,
        page?.offset ?? 0,
      ]),
    one: async (tenant, id) =>
      (await database.query<StoredWebhook>(`${SELECT} where tenant_id = $1 and id = $2`, [tenant, id]))[0],
    count: async (tenant) =>
      (
        await database.query<{ readonly count: number }>(
          'select count(*)::int as count from rm_automation.webhooks where tenant_id = $1',
          [tenant],
        )
      )[0]?.count ?? 0,
  };
}
