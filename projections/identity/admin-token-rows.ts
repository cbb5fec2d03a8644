import type { RecordedEvent } from '../../domain/event.ts';
import { adminTokenEvents } from '../../domain/identity/admin-token-events.ts';
import type { Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `admin_tokens`. */
export type AdminTokenRow = {
  readonly tenant_id: string;
  readonly token_id: string;
  readonly name: string;
  readonly token_hash: string;
  readonly grants: readonly string[];
  readonly created_by: string;
  readonly created_at: string;
  readonly issued_by: string;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly revoked: boolean;
};

/** A token's row after an event. @throws TypeError for a change without an existing row */
export function evolveAdminToken(row: AdminTokenRow | undefined, recorded: RecordedEvent): AdminTokenRow {
  const event = adminTokenEvents.parse(recorded);
  if (event.type === 'AdminTokenCreated') {
    return {
      tenant_id: recorded.metadata.tenant,
      ...event.data,
      created_by: event.data.issued_by,
      created_at: event.data.issued_at,
      revoked: false,
    };
  }
  if (!row) throw new TypeError(`${event.type} on an admin token that does not exist, position ${recorded.position}`);
  return event.type === 'AdminTokenRotated' ? { ...row, ...event.data } : { ...row, revoked: true };
}

/** The existing rows by token id. */
export async function loadAdminTokens(
  queryable: Queryable,
  { schema }: Target,
  ids: readonly string[],
): Promise<Map<string, AdminTokenRow>> {
  const rows = await queryable.query<{ row: AdminTokenRow }>(
    `select to_jsonb(t) as row from ${schema}.admin_tokens t where t.token_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ row }) => [row.token_id, row]));
}

/** Upserts the rows. Rows are deleted only with their tenant. */
export async function saveAdminTokens(
  tx: Transaction,
  { schema }: Target,
  { rows }: { readonly rows: readonly AdminTokenRow[] },
): Promise<void> {
  await tx.query(
    `insert into ${schema}.admin_tokens (tenant_id, token_id, name, token_hash, grants, created_by, created_at,
     issued_by, issued_at, expires_at, revoked)
     select r.* from jsonb_to_recordset($1::jsonb) as r(tenant_id text, token_id uuid, name text, token_hash text,
       grants text[], created_by text, created_at timestamptz,
       issued_by text, issued_at timestamptz, expires_at timestamptz, revoked boolean)
     on conflict (token_id) do update
       set token_hash = excluded.token_hash, issued_by = excluded.issued_by, issued_at = excluded.issued_at,
       expires_at = excluded.expires_at, revoked = excluded.revoked`,
    [JSON.stringify(rows)],
  );
}
