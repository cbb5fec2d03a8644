import type { SealedValue, WebhookSettings } from '../../domain/automation/webhook.ts';
import type { Queryable } from '../../infrastructure/postgres/database.ts';

/** A webhook as stored: URL, headers and secret sealed. */
export type WebhookRow = WebhookSettings & {
  readonly id: string;
  readonly tenant_id: string;
  readonly secret: SealedValue | null;
  readonly created_at: string;
  readonly updated_at: string;
};

const SELECT = `select id, tenant_id, name, url, events, schemas, enabled, headers, include_fields, exclude_fields, max_response_size, secret, created_at, updated_at
  from rm_automation.webhooks`;

/** Queries of the read model of webhooks, bound to a database (port `Webhooks`). */
export function webhookQueries(database: Queryable) {
  return {
    /** Oldest first; all of them without a page. */
    list: (tenant: string, page?: { readonly limit: number; readonly offset: number }): Promise<readonly WebhookRow[]> =>
      database.query<WebhookRow>(`${SELECT} where tenant_id = $1 order by created_at, id limit $2 offset $3`, [tenant, page?.limit ?? null, page?.offset ?? 0]),
    one: async (tenant: string, id: string): Promise<WebhookRow | undefined> => (await database.query<WebhookRow>(`${SELECT} where tenant_id = $1 and id = $2`, [tenant, id]))[0],
    count: async (tenant: string): Promise<number> =>
      (await database.query<{ readonly count: number }>('select count(*)::int as count from rm_automation.webhooks where tenant_id = $1', [tenant]))[0]?.count ?? 0,
  };
}
