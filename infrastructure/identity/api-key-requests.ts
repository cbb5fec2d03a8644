import type { ApiKeyRequest, ApiKeyRequests } from '../../application/ports/api-key-requests.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Sealed, Vault } from '../../application/ports/vault.ts';
import type { Database } from '../postgres/database.ts';

export type ApiKeyRequestsOptions = {
  readonly database: Database;
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret'>;
  readonly logger: Logger;
  /** A new UUID v7. */
  readonly newId: () => string;
  /** Milliseconds between batches. Default 500. */
  readonly flushMs?: number;
  /** Most requests that wait. Default 50,000. */
  readonly maxQueued?: number;
};

export type ApiKeyRequestLog = ApiKeyRequests & {
  /** Writes what waits. @throws when the database refuses; what waited stays */
  flush(): Promise<void>;
  /** Requests dropped since the start because the queue was full. */
  dropped(): number;
  /** Writes what waits and stops. */
  close(): Promise<void>;
};

type Queued = ApiKeyRequest & { readonly id: string };
type Row = { readonly id: string; readonly key_id: string; readonly at: Date; readonly method: string; readonly path: string; readonly status: number; readonly ip: Sealed };

const PURPOSE = 'api-key-request/ip';
const BATCH = 2_000;
const MAX_PATH = 2_048;

/** Log of keys' requests, written in batches; a read or write never waits for it. */
export function createApiKeyRequests({ database, vault, logger, newId, flushMs = 500, maxQueued = 50_000 }: ApiKeyRequestsOptions): ApiKeyRequestLog {
  let queue: Queued[] = [];
  let dropped = 0;
  let flushing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    flush().catch((error: unknown) => {
      logger.warn('requests of API keys could not be recorded, they are kept for the next try', { error: String(error), waiting: queue.length });
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
        await insert(batch);
      } catch (error) {
        queue = batch.concat(queue);
        throw error;
      }
    }
  }

  async function insert(batch: readonly Queued[]): Promise<void> {
    const sealedIps = new Map<string, string>();
    for (const { ip } of batch) if (!sealedIps.has(ip)) sealedIps.set(ip, JSON.stringify(vault.sealSecret(PURPOSE, ip)));
    const column = <T>(read: (request: Queued) => T) => batch.map(read);
    await database.execute(
      `insert into operational.api_key_requests (id, tenant_id, key_id, at, method, path, status, ip, bytes_in, bytes_out)
       select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::smallint[], $8::jsonb[], $9::bigint[], $10::bigint[])
       on conflict do nothing`,
      [
        column(({ id }) => id), column(({ tenant }) => tenant), column(({ keyId }) => keyId), column(({ at }) => at.toISOString()), column(({ method }) => method),
        column(({ path }) => path), column(({ status }) => status), column(({ ip }) => sealedIps.get(ip)), column(({ bytesIn }) => bytesIn), column(({ bytesOut }) => bytesOut),
      ],
    );
  }

  return {
    record(request) {
      queue.push({ ...request, path: request.path.slice(0, MAX_PATH).replaceAll('\u0000', ''), id: newId() });
      if (queue.length > maxQueued) {
        // A tenth at once, so that a full queue costs no shift a request.
        const surplus = Math.ceil(maxQueued / 10);
        queue = queue.slice(surplus);
        dropped += surplus;
      }
    },

    async list({ tenant, keyId, limit, offset, since }) {
      await flush();
      const rows = await database.query<Row>(
        `select id, key_id, at, method, path, status, ip from operational.api_key_requests
         where tenant_id = $1 and key_id = $2 and ($5::timestamptz is null or at >= $5) order by id desc limit $3 offset $4`,
        [tenant, keyId, limit, offset, since ?? null],
      );
      return rows.map(({ id, key_id, at, method, path, status, ip }) => ({
        id, api_key_id: key_id, method, path, status, ip: vault.openSecret(PURPOSE, ip), ts: at.toISOString(),
      }));
    },

    async forget({ tenant, keyId }) {
      await flush();
      await database.execute('delete from operational.api_key_requests where tenant_id = $1 and key_id = $2', [tenant, keyId]);
    },

    flush,
    dropped: () => dropped,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
