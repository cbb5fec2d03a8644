import type { RecordedEvent } from '../../domain/event.ts';
import { apiKeyEvents } from '../../domain/identity/api-key-events.ts';
import type { Queryable, Transaction } from '../../infrastructure/postgres/database.ts';
import type { Target } from '../engine/projection.ts';

/** A row of the table `api_keys`. */
export type ApiKeyRow = {
  readonly tenant_id: string;
  readonly key_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly key_hash: string;
  /** The replaced secret of the last rotation, valid until `previous_until`; null when it stopped at once. */
  readonly previous_hash: string | null;
  readonly previous_until: string | null;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly schemas: readonly string[];
  readonly enabled: boolean;
  readonly expires_at: string | null;
  readonly monthly_limit: number;
  readonly created_at: string;
  readonly revision: number;
};

/** A key's row after an event; undefined after its deletion. @throws TypeError for a change without an existing row */
export function evolveApiKey(row: ApiKeyRow | undefined, recorded: RecordedEvent): ApiKeyRow | undefined {
  const event = apiKeyEvents.parse(recorded);
  if (event.type === 'ApiKeyCreated') {
    return {
      tenant_id: recorded.metadata.tenant,
      ...event.data,
      previous_hash: null,
      previous_until: null,
      enabled: true,
      created_at: recorded.metadata.occurred_at,
      revision: recorded.revision,
    };
  }
  if (!row) throw new TypeError(`${event.type} on a key that does not exist, position ${recorded.position}`);
  switch (event.type) {
    case 'ApiKeySchemasChanged':
      return { ...row, schemas: event.data.schemas, revision: recorded.revision };
    case 'ApiKeyMonthlyLimitChanged':
      return { ...row, monthly_limit: event.data.monthly_limit, revision: recorded.revision };
    case 'ApiKeyRotated': {
      const { prefix, key_hash, previous_until } = event.data;
      return {
        ...row,
        prefix,
        key_hash,
        previous_hash: previous_until === null ? null : row.key_hash,
        previous_until,
        revision: recorded.revision,
      };
    }
    case 'ApiKeyRevoked':
      return { ...row, enabled: false, revision: recorded.revision };
    case 'ApiKeyDeleted':
      return undefined;
  }
}

/** The existing rows by key id. */
export async function loadApiKeys(
  queryable: Queryable,
  { schema }: Target,
  ids: readonly string[],
): Promise<Map<string, ApiKeyRow>> {
  const rows = await queryable.query<{ row: ApiKeyRow }>(
    `select to_jsonb(k) as row from ${schema}.api_keys k where k.key_id = any($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map(({ row }) => [row.key_id, row]));
}

/** Upserts `rows` and deletes the rows with the ids `removed`. */
export async function saveApiKeys(
  tx: Transaction,
  { schema }: Target,
  { rows, removed }: { readonly rows: readonly ApiKeyRow[]; readonly removed: readonly string[] },
): Promise<void> {
  if (removed.length > 0) await tx.query(`delete from ${schema}.api_keys where key_id = any($1::uuid[])`, [removed]);
  if (rows.length === 0) return;
  await tx.query(
    `insert into ${schema}.api_keys (tenant_id, key_id, name, prefix, key_hash, previous_hash, previous_until, scopes,
     roles, schemas, enabled, expires_at, monthly_limit, created_at, revision)
     select r.* from jsonb_to_recordset($1::jsonb) as r(tenant_id text, key_id uuid, name text, prefix text,
       key_hash text, previous_hash text, previous_until timestamptz, scopes text[], roles text[], schemas text[],
       enabled boolean, expires_at timestamptz, monthly_limit bigint, created_at timestamptz, revision integer)
     on conflict (key_id) do update
       set prefix = excluded.prefix, key_hash = excluded.key_hash, previous_hash = excluded.previous_hash,
       previous_until = excluded.previous_until, monthly_limit = excluded.monthly_limit, enabled = excluded.enabled,
       schemas = excluded.schemas, revision = excluded.revision`,
    [JSON.stringify(rows)],
  );
}
