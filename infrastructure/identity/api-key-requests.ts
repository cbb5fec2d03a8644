import type { ApiKeyRequest, ApiKeyRequests } from '../../application/ports/api-key-requests.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { countsTowardsUsage } from '../../domain/identity/billing-period.ts';
import type { SealedValue } from '../../domain/sealed-value.ts';
import type { Database } from '../postgres/database.ts';
import { createMonthlyBudget } from './monthly-budget.ts';

export type ApiKeyRequestsOptions = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  readonly logger: Logger;
  /** A new UUID v7. */
  readonly newId: () => string;
  readonly now: () => Date;
  /** Milliseconds between batches. Default 500. */
  readonly flushMs?: number;
  /** Maximum length of the queue; when it is full, the oldest requests are dropped. Default 50,000. */
  readonly maxQueued?: number;
};

export type ApiKeyRequestLog = ApiKeyRequests & {
  /** Writes the queued requests. @throws when the database fails; the requests stay queued */
  flush(): Promise<void>;
  /** Requests dropped since the start because the queue was full. */
  dropped(): number;
  /** Writes the queued requests and stops. */
  close(): Promise<void>;
};

/**
 * `counts` is added to the request count of `period`; -1 reverts a request that was counted before it was served.
 * Without a period the request is recorded and not counted.
 */
type Queued = Omit<ApiKeyRequest, 'admission'> & {
  readonly id: string;
  readonly period: string | undefined;
  readonly counts: -1 | 0 | 1;
};
type Row = {
  readonly id: string;
  readonly key_id: string;
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ip: SealedValue;
};

/** Purpose that the sealed client address of a recorded request is bound to. */
export const KEY_REQUEST_ADDRESS = 'api-key-request/ip';
const BATCH = 2_000;
const MAX_PATH = 2_048;

/**
 * Opens the request log of API keys and admin tokens, and counts their usage. Requests are written in batches in the
 * background; no answer waits for a write. A killed process loses the requests since its last batch, at most `flushMs`.
 */
export function openApiKeyRequests({
  database,
  vault,
  logger,
  newId,
  now,
  flushMs = 500,
  maxQueued = 50_000,
}: ApiKeyRequestsOptions): ApiKeyRequestLog {
  const budget = createMonthlyBudget({ countAhead });
  let queue: Queued[] = [];
  let dropped = 0;
  let flushing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    flush().catch((error: unknown) => {
      logger.warn('requests of API keys could not be recorded; they stay queued for the next attempt', {
        reason: reasonOf(error),
        waiting: queue.length,
      });
    });
  }, flushMs);
  timer.unref();

  function flush(): Promise<void> {
    const run = flushing.then(writeAll);
    flushing = run.catch(() => undefined);
    return run;
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, BATCH);
      queue = queue.slice(batch.length);
      try {
        await write(batch);
      } catch (error) {
        queue = batch.concat(queue);
        throw error;
      }
    }
  }

  async function write(batch: readonly Queued[]): Promise<void> {
    const sealedIps = new Map<string, string>();
    for (const { ip } of batch)
      if (!sealedIps.has(ip)) sealedIps.set(ip, JSON.stringify(vault.sealSecret(KEY_REQUEST_ADDRESS, ip)));
    const column = <T>(read: (request: Queued) => T) => batch.map(read);
    // One statement: a batch that is sent twice adds its rows and its counts once.
    const totals = await database.query<{ key_id: string; period: string; requests: number }>(
      `with batch as (
         select b.* from unnest($1::uuid[], $2::text[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[],
           $7::smallint[], $8::jsonb[], $9::bigint[], $10::bigint[], $11::text[], $12::int[])
           as b(id, tenant_id, key_id, at, method, path, status, ip, bytes_in, bytes_out, period, counts)
         where not exists (select 1 from operational.api_key_usage d
           where d.tenant_id = b.tenant_id and d.key_id = b.key_id and d.period = 'deleted')
       ), kept as (
         insert into operational.api_key_requests (id, tenant_id, key_id, at, method, path, status, ip, bytes_in,
           bytes_out)
         select id, tenant_id, key_id, at, method, path, status, ip, bytes_in, bytes_out from batch
         on conflict do nothing returning id
       )
       insert into operational.api_key_usage as u (tenant_id, key_id, period, requests, bytes_in, bytes_out,
         last_used_at)
       select tenant_id, key_id, period, sum(counts), coalesce(sum(bytes_in) filter (where counts >= 0), 0),
         coalesce(sum(bytes_out) filter (where counts >= 0), 0),
         max(at) filter (where counts >= 0)
       from batch join kept using (id) where period is not null
       group by tenant_id, key_id, period order by tenant_id, key_id, period
       on conflict (tenant_id, key_id, period) do update
         set requests = greatest(0, u.requests + excluded.requests), bytes_in = u.bytes_in + excluded.bytes_in,
         bytes_out = u.bytes_out + excluded.bytes_out, last_used_at = greatest(u.last_used_at, excluded.last_used_at)
       returning key_id, period, requests`,
      [
        column(({ id }) => id),
        column(({ tenant }) => tenant),
        column(({ keyId }) => keyId),
        column(({ at }) => at.toISOString()),
        column(({ method }) => method),
        column(({ path }) => path),
        column(({ status }) => status),
        column(({ ip }) => sealedIps.get(ip)),
        column(({ bytesIn }) => bytesIn),
        column(({ bytesOut }) => bytesOut),
        column(({ period }) => period ?? null),
        column(({ counts }) => counts),
      ],
    );
    for (const request of batch) settle(request);
    const at = now();
    for (const { key_id, period, requests } of totals) budget.setTotal(key_id, period, requests, at);
  }

  /** The request is in the shared count now, or was dropped: the budget stops adding it. */
  function settle({ keyId, period, counts }: Queued): void {
    if (counts === 1 && period !== undefined) budget.settle(keyId, period, 1);
  }

  async function countAhead(
    { tenant, keyId, monthlyLimit }: { readonly tenant: string; readonly keyId: string; readonly monthlyLimit: number },
    period: string,
    others: number,
  ): Promise<number | undefined> {
    const [row] = await database.query<{ requests: number }>(
      `insert into operational.api_key_usage as u (tenant_id, key_id, period, requests) values ($1, $2, $3, 1)
       on conflict (tenant_id, key_id, period) do update set requests = u.requests + 1 where u.requests + $4 < $5
       returning requests`,
      [tenant, keyId, period, others, monthlyLimit],
      'count-key-request',
    );
    return row?.requests;
  }

  return {
    admit: (key, at) => budget.admit(key, at),

    record(request) {
      const { admission, ...recorded } = request;
      queue.push({
        ...recorded,
        ...countOf(request),
        path: request.path.slice(0, MAX_PATH).replaceAll('\u0000', ''),
        id: newId(),
      });
      // A later check refused the request, so it does not count.
      if (admission?.counted === false && !countsTowardsUsage(request.status))
        budget.settle(request.keyId, admission.period, 1);
      if (queue.length > maxQueued) {
        // Drop a tenth at once, so that a full queue is not copied for every request.
        const surplus = Math.ceil(maxQueued / 10);
        for (const request of queue.slice(0, surplus)) settle(request);
        queue = queue.slice(surplus);
        dropped += surplus;
      }
    },

    async list({ tenant, keyId, limit, offset, since }) {
      await flush();
      const rows = await database.query<Row>(
        `select id, key_id, at, method, path, status, ip from operational.api_key_requests
         where tenant_id = $1 and key_id = $2 and ($5::timestamptz is null or at >= $5) order by id desc
           limit $3 offset $4`,
        [tenant, keyId, limit, offset, since ?? null],
      );
      return rows.map(({ id, key_id, at, method, path, status, ip }) => ({
        id,
        api_key_id: key_id,
        method,
        path,
        status,
        ip: vault.openSecret(KEY_REQUEST_ADDRESS, ip),
        ts: at.toISOString(),
      }));
    },

    async usage({ tenant, keyId, period }) {
      await flush();
      const [row] = await database.query<{ requests: number; bytes_in: number; bytes_out: number }>(
        'select requests, bytes_in, bytes_out from operational.api_key_usage where tenant_id = $1 and key_id = $2 and period = $3',
        [tenant, keyId, period],
      );
      return { requests: row?.requests ?? 0, bytesIn: row?.bytes_in ?? 0, bytesOut: row?.bytes_out ?? 0 };
    },

    async lastUsed({ tenant, ids }) {
      await flush();
      const rows = await database.query<{ key_id: string; at: Date }>(
        'select key_id, max(last_used_at) as at from operational.api_key_usage where tenant_id = $1 and key_id = any($2::uuid[]) and last_used_at is not null group by key_id',
        [tenant, ids],
      );
      return new Map(rows.map(({ key_id, at }) => [key_id, at]));
    },

    async delete({ tenant, keyId }) {
      await flush();
      await database.execute(
        `with gone as (delete from operational.api_key_requests where tenant_id = $1 and key_id = $2),
           unused as (delete from operational.api_key_usage
             where tenant_id = $1 and key_id = $2 and period <> 'deleted')
         insert into operational.api_key_usage (tenant_id, key_id, period) values ($1, $2, 'deleted')
         on conflict do nothing`,
        [tenant, keyId],
      );
    },

    flush,
    dropped: () => dropped,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function countOf({ admission, status }: ApiKeyRequest): Pick<Queued, 'period' | 'counts'> {
  if (!admission) return { period: undefined, counts: 0 };
  if (countsTowardsUsage(status)) return { period: admission.period, counts: admission.counted ? 0 : 1 };
  return admission.counted ? { period: admission.period, counts: -1 } : { period: undefined, counts: 0 };
}
