import type { RecordedEvent } from '../../domain/event.ts';
import { accessRuleEvents } from '../../domain/identity/access-rule-events.ts';
import type { Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `access_rules`. */
export type AccessRuleRow = {
  readonly tenant_id: string;
  readonly rule_id: string;
  readonly role: string;
  readonly schema_name: string;
  readonly actions: readonly string[];
  readonly field_mask: readonly string[];
  readonly created_at: string;
  readonly updated_at: string;
};

/** A rule's row after an event; undefined after its deletion. @throws TypeError for a change without an existing row */
export function evolveAccessRule(row: AccessRuleRow | undefined, recorded: RecordedEvent): AccessRuleRow | undefined {
  const event = accessRuleEvents.parse(recorded);
  const { tenant: tenant_id, occurred_at: at } = recorded.metadata;
  if (event.type === 'AccessRuleCreated') return { tenant_id, ...event.data, created_at: at, updated_at: at };
  if (!row) throw new TypeError(`${event.type} on an access rule that does not exist, position ${recorded.position}`);
  return event.type === 'AccessRuleChanged' ? { ...row, ...event.data, updated_at: at } : undefined;
}

/** Key of a row: tenant and rule id, so that equal ids of two tenants are two rows. */
function accessRuleKey({ tenant_id, rule_id }: Pick<AccessRuleRow, 'tenant_id' | 'rule_id'>): string {
  return `${tenant_id}/${rule_id}`;
}

/** Key of the row that an event changes. */
export function accessRuleKeyOf(recorded: RecordedEvent): string {
  return accessRuleKey({ tenant_id: recorded.metadata.tenant, rule_id: accessRuleEvents.parse(recorded).data.rule_id });
}

/** The existing rows by key. */
export async function loadAccessRules(
  queryable: Queryable,
  { schema }: Target,
  keys: readonly string[],
): Promise<Map<string, AccessRuleRow>> {
  const rows = await queryable.query<{ row: AccessRuleRow }>(
    `select to_jsonb(r) as row from ${schema}.access_rules r
     join unnest($1::text[]) k on r.tenant_id = split_part(k, '/', 1) and r.rule_id = split_part(k, '/', 2)::uuid`,
    [keys],
  );
  return new Map(rows.map(({ row }) => [accessRuleKey(row), row]));
}

/** Upserts `rows` and deletes the rows with the keys `removed`. */
export async function saveAccessRules(
  tx: Transaction,
  { schema }: Target,
  { rows, removed }: { readonly rows: readonly AccessRuleRow[]; readonly removed: readonly string[] },
): Promise<void> {
  if (removed.length > 0) {
    await tx.query(
      `delete from ${schema}.access_rules r using unnest($1::text[]) k
       where r.tenant_id = split_part(k, '/', 1) and r.rule_id = split_part(k, '/', 2)::uuid`,
      [removed],
    );
  }
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.access_rules (tenant_id, rule_id, role, schema_name, actions, field_mask, created_at,
     updated_at)
     select r.* from jsonb_to_recordset($1::jsonb) as r(tenant_id text, rule_id uuid, role text, schema_name text,
       actions text[], field_mask text[],
       created_at timestamptz, updated_at timestamptz)
     on conflict (tenant_id, rule_id) do update
       set role = excluded.role, schema_name = excluded.schema_name, actions = excluded.actions,
       field_mask = excluded.field_mask, updated_at = excluded.updated_at`,
    [JSON.stringify(rows)],
  );
}
