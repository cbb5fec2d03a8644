import type { RecordedEvent } from '../../domain/event.ts';
import { tenantEvents } from '../../domain/identity/tenant-events.ts';
import type { Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `tenants`. */
export type TenantRow = {
  readonly tenant_id: string;
  readonly name: string;
  readonly domains: readonly string[];
  readonly disabled: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

/**
 * A tenant's row after an event. `deleteTenant` applies deletions.
 * @throws TypeError for a change without an existing row
 */
export function evolveTenant(row: TenantRow | undefined, recorded: RecordedEvent): TenantRow | undefined {
  const event = tenantEvents.parse(recorded);
  const { occurred_at: at } = recorded.metadata;
  if (event.type === 'TenantDeleted') return undefined;
  const { slug, ...settings } = event.data;
  if (event.type === 'TenantCreated') return { tenant_id: slug, ...event.data, created_at: at, updated_at: at };
  if (!row) throw new TypeError(`${event.type} on a tenant that does not exist, position ${recorded.position}`);
  return { ...row, ...settings, updated_at: at };
}

/** The existing rows by slug. */
export async function loadTenants(
  queryable: Queryable,
  { schema }: Target,
  slugs: readonly string[],
): Promise<Map<string, TenantRow>> {
  const rows = await queryable.query<{ row: TenantRow }>(
    `select to_jsonb(t) as row from ${schema}.tenants t where t.tenant_id = any($1::text[])`,
    [slugs],
  );
  return new Map(rows.map(({ row }) => [row.tenant_id, row]));
}

/** Upserts the rows. */
export async function saveTenants(
  tx: Transaction,
  { schema }: Target,
  { rows }: { readonly rows: readonly TenantRow[] },
): Promise<void> {
  await tx.query(
    `insert into ${schema}.tenants (tenant_id, name, domains, disabled, created_at, updated_at)
     select r.tenant_id, r.name, r.domains, r.disabled, r.created_at, r.updated_at
     from jsonb_to_recordset($1::jsonb) as r(tenant_id text, name text, domains text[], disabled boolean,
       created_at timestamptz, updated_at timestamptz)
     on conflict (tenant_id) do update
       set name = excluded.name, domains = excluded.domains, disabled = excluded.disabled,
       updated_at = excluded.updated_at`,
    [JSON.stringify(rows)],
  );
}

/** Deletes all rows of a tenant, and marks the tenant as deleted, so that its later events are ignored. */
export async function deleteTenant(tx: Transaction, { schema }: Target, slug: string): Promise<void> {
  for (const table of ['tenants', 'access_rules', 'api_keys', 'admin_tokens', 'memberships'])
    await tx.query(`delete from ${schema}.${table} where tenant_id = $1`, [slug]);
  await tx.query(`insert into ${schema}.deleted_tenants (slug) values ($1) on conflict do nothing`, [slug]);
}

/** Slugs of deleted tenants. */
export async function loadDeletedTenants(queryable: Queryable, { schema }: Target): Promise<Set<string>> {
  return new Set(
    (await queryable.query<{ slug: string }>(`select slug from ${schema}.deleted_tenants`)).map(({ slug }) => slug),
  );
}

/** Stores the position of the last change of each tenant or its access rules. */
export async function saveTenantChanges(
  tx: Transaction,
  { schema }: Target,
  positions: ReadonlyMap<string, string>,
): Promise<void> {
  if (positions.size === 0) return;
  await tx.query(
    `insert into ${schema}.tenant_changes (slug, position) select * from unnest($1::text[], $2::text[])
     on conflict (slug) do update set position = excluded.position`,
    [[...positions.keys()], [...positions.values()]],
  );
}
