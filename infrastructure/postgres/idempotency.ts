import { randomUUID } from 'node:crypto';
import type {
  IdempotencyAttempt,
  IdempotencyScope,
  IdempotencyStore,
} from '../../application/ports/idempotency-store.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from './database.ts';
import { deleteInBatches } from './delete-in-batches.ts';

export type IdempotencyOptions = {
  readonly database: Database;
  /**
   * Bodies may contain values that must not be stored in plain text: stored responses are sealed, and request bodies
   * are stored as a keyed digest.
   */
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret' | 'digest'>;
  /** Time that a response is kept, in seconds. Default 24 hours. */
  readonly keepSeconds?: number;
  /** Time after which an attempt that has not ended is considered crashed, in seconds. Default 60. */
  readonly inProgressSeconds?: number;
};

export type IdempotencyKeys = IdempotencyStore & {
  /** Deletes all expired keys, `limit` rows at a time (default 10,000). @returns the number deleted */
  sweep(limit?: number): Promise<number>;
};

type Row = {
  readonly body_hash: string;
  readonly state: 'in_progress' | 'done';
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: string | null;
};

const PURPOSE = 'idempotency';

/** `now()` is one value for the statement, so that the index on `expires_at` is used. */
const SWEEP = `delete from operational.idempotency_keys where ctid = any (array(
  select ctid from operational.idempotency_keys where expires_at < now() limit $1 for update skip locked))`;

/** Creates the store of responses to requests with an `Idempotency-Key`, in `operational.idempotency_keys`. */
export function createIdempotencyKeys({
  database,
  vault,
  keepSeconds = 86_400,
  inProgressSeconds = 60,
}: IdempotencyOptions): IdempotencyKeys {
  const identity = ({ tenant, route, caller, key }: IdempotencyScope): readonly string[] => [
    tenant,
    route,
    caller,
    key,
  ];

  async function begin(
    scope: IdempotencyScope,
    { bodyHash, requestId }: { readonly bodyHash: string; readonly requestId: string },
  ): Promise<IdempotencyAttempt> {
    const digest = vault.digest(PURPOSE, bodyHash);
    for (;;) {
      const attempt = randomUUID();
      // An expired key is new again. An attempt that has not ended is followed by one with the same request id and
      // time.
      const [fresh] = await database.query<{ request_id: string; begun_at: Date }>(
        `insert into operational.idempotency_keys as k
           (tenant_id, route, caller, key, body_hash, attempt, request_id, begun_at, state, locked_until, expires_at)
         values ($1, $2, $3, $4, $5, $6, $9, date_trunc('milliseconds', clock_timestamp()), 'in_progress',
                 clock_timestamp() + $7 * interval '1 second', clock_timestamp() + $8 * interval '1 second')
         on conflict (tenant_id, route, caller, key) do update
           set attempt = excluded.attempt, locked_until = excluded.locked_until, state = excluded.state,
               status = null, headers = null, body = null, body_hash = excluded.body_hash,
               request_id = case when k.expires_at < clock_timestamp() then excluded.request_id else k.request_id end,
               begun_at = case when k.expires_at < clock_timestamp() then excluded.begun_at else k.begun_at end,
               expires_at = case when k.expires_at < clock_timestamp() then excluded.expires_at else k.expires_at end
           where k.expires_at < clock_timestamp()
              or (k.state = 'in_progress' and k.locked_until < clock_timestamp() and k.body_hash = excluded.body_hash)
         returning request_id, begun_at`,
        [...identity(scope), digest, attempt, inProgressSeconds, keepSeconds, requestId],
      );
      if (fresh)
        return {
          kind: 'fresh',
          attempt,
          requestId: fresh.request_id,
          begunAt: fresh.begun_at,
          isRepeat: fresh.request_id !== requestId,
        };
      const [row] = await database.query<Row>(
        `select body_hash, state, status, headers, body from operational.idempotency_keys
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4`,
        identity(scope),
      );
      // Without a row the key was abandoned or swept between the two statements: try again.
      if (row) return judge(row, digest, vault);
    }
  }

  return {
    begin,
    async complete(scope, attempt, { status, headers, body }) {
      await database.execute(
        `update operational.idempotency_keys set state = 'done', status = $6, headers = $7, body = $8
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4 and attempt = $5`,
        [...identity(scope), attempt, status, JSON.stringify(headers), JSON.stringify(vault.sealSecret(PURPOSE, body))],
      );
    },
    async suspend(scope, attempt) {
      await database.execute(
        `update operational.idempotency_keys set locked_until = '-infinity'
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4 and attempt = $5 and state = 'in_progress'`,
        [...identity(scope), attempt],
      );
    },
    async abandon(scope, attempt) {
      await database.execute(
        `delete from operational.idempotency_keys
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4 and attempt = $5 and state = 'in_progress'`,
        [...identity(scope), attempt],
      );
    },
    sweep: (limit = 10_000) => deleteInBatches({ statement: SWEEP, batchSize: limit }, { database }),
  };
}

function judge(row: Row, digest: string, vault: Pick<Vault, 'openSecret'>): IdempotencyAttempt {
  if (row.body_hash !== digest) return { kind: 'mismatch' };
  if (row.state === 'in_progress' || row.status === null || row.body === null) return { kind: 'in_progress' };
  const sealed = JSON.parse(row.body) as SealedValue;
  return {
    kind: 'replay',
    response: { status: row.status, headers: row.headers ?? {}, body: vault.openSecret(PURPOSE, sealed) },
  };
}
