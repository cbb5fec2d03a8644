import type { PersonalRecords, Subject } from '../../application/ports/personal-records.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';
import { KEY_REQUEST_ADDRESS } from './api-key-requests.ts';

type Row = { readonly row: JsonObject & { readonly ip: SealedValue } };

const OF_CREDENTIALS =
  'from operational.api_key_requests q join unnest($1::text[], $2::uuid[]) k (tenant_id, key_id) using (tenant_id, key_id)';

/**
 * Client addresses in the request log of the API keys and admin tokens that a person created. Erasing removes the
 * addresses and keeps the requests.
 */
export function createPersonalKeyRequests({
  database,
  vault,
  flush,
}: {
  readonly database: Database;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  /** Writes the queued requests of this process; other processes write theirs within half a second. */
  readonly flush: () => Promise<void>;
}): PersonalRecords {
  const keysOf = ({ credentials }: Subject): readonly unknown[] => [
    credentials.map(({ tenant }) => tenant),
    credentials.map(({ id }) => id),
  ];
  return {
    kind: 'credential_requests',
    async list(subject) {
      await flush();
      const rows = await database.query<Row>(
        `select jsonb_build_object('credential_id', key_id, 'tenant_id', tenant_id, 'method', q.method, 'path', q.path,
         'status', q.status, 'at', q.at, 'ip', q.ip) as row ${OF_CREDENTIALS} order by q.id`,
        keysOf(subject),
      );
      return rows.map(({ row }) => ({ ...row, ip: vault.openSecret(KEY_REQUEST_ADDRESS, row.ip) }));
    },
    async erase(subject) {
      await flush();
      return database.execute(
        'update operational.api_key_requests q set ip = $3::jsonb from unnest($1::text[], $2::uuid[]) k (tenant_id, key_id) where q.tenant_id = k.tenant_id and q.key_id = k.key_id',
        [...keysOf(subject), JSON.stringify(vault.sealSecret(KEY_REQUEST_ADDRESS, ''))],
      );
    },
  };
}
