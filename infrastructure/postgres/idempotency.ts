import { randomUUID } from 'node:crypto';
import type { Sealed, Vault } from '../../application/ports/vault.ts';
import type { Queryable } from './database.ts';

/** What a repeated request is known by (spec 4, Idempotency-Key). */
export type IdempotencyScope = {
  readonly tenant: string;
  /** Method and declared path. */
  readonly route: string;
  /** Kind and id of the credential. */
  readonly caller: string;
  readonly key: string;
};

/** An answer as it is given again. Holds no secret: the caller leaves it out before `complete`. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** `attempt` belongs to the request that may go on; only it completes or abandons. */
export type Begun =
  | { readonly kind: 'fresh'; readonly attempt: string }
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in_progress' };

export type IdempotencyOptions = {
  readonly database: Queryable;
  /** Bodies may hold what must not lie in clear (rule 11): the kept ones are sealed, the asked ones known by a keyed digest. */
  readonly vault: Pick<Vault, 'sealSecret' | 'openSecret' | 'digest'>;
  /** How long an answer is kept. Default 24 hours. */
  readonly keepSeconds?: number;
  /** After this a request that neither completed nor abandoned counts as crashed. Default 60. */
  readonly inProgressSeconds?: number;
};

export type IdempotencyKeys = {
  begin(scope: IdempotencyScope, bodyHash: string): Promise<Begun>;
  complete(scope: IdempotencyScope, attempt: string, answer: KeptAnswer): Promise<void>;
  /** The request had no effect: the key is free again. */
  abandon(scope: IdempotencyScope, attempt: string): Promise<void>;
  /** Deletes what has expired, at most `limit` rows (default 10,000). @returns how many */
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

/** Answers to requests with an `Idempotency-Key`, in `operational.idempotency_keys`. */
export function createIdempotencyKeys({ database, vault, keepSeconds = 86_400, inProgressSeconds = 60 }: IdempotencyOptions): IdempotencyKeys {
  const identity = ({ tenant, route, caller, key }: IdempotencyScope): readonly string[] => [tenant, route, caller, key];

  async function begin(scope: IdempotencyScope, bodyHash: string): Promise<Begun> {
    const digest = vault.digest(PURPOSE, bodyHash);
    for (;;) {
      const attempt = randomUUID();
      const fresh = await database.query(
        `insert into operational.idempotency_keys as k (tenant_id, route, caller, key, body_hash, attempt, state, locked_until, expires_at)
         values ($1, $2, $3, $4, $5, $6, 'in_progress', clock_timestamp() + $7 * interval '1 second', clock_timestamp() + $8 * interval '1 second')
         on conflict (tenant_id, route, caller, key) do update
           set body_hash = excluded.body_hash, attempt = excluded.attempt, state = excluded.state, status = null, headers = null, body = null,
               locked_until = excluded.locked_until, expires_at = excluded.expires_at
           where k.expires_at < clock_timestamp() or (k.state = 'in_progress' and k.locked_until < clock_timestamp())
         returning attempt`,
        [...identity(scope), digest, attempt, inProgressSeconds, keepSeconds],
      );
      if (fresh.length > 0) return { kind: 'fresh', attempt };
      const [row] = await database.query<Row>(
        `select body_hash, state, status, headers, body from operational.idempotency_keys
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4`,
        identity(scope),
      );
      // Abandoned or swept between the two statements: it is free after all.
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
    async abandon(scope, attempt) {
      await database.execute(
        `delete from operational.idempotency_keys
         where tenant_id = $1 and route = $2 and caller = $3 and key = $4 and attempt = $5 and state = 'in_progress'`,
        [...identity(scope), attempt],
      );
    },
    sweep: (limit = 10_000) =>
      database.execute(
        `delete from operational.idempotency_keys where ctid = any (array(
           select ctid from operational.idempotency_keys
           where expires_at < clock_timestamp() or (state = 'in_progress' and locked_until < clock_timestamp()) limit $1 for update skip locked))`,
        [limit],
      ),
  };
}

function judge(row: Row, digest: string, vault: Pick<Vault, 'openSecret'>): Begun {
  if (row.body_hash !== digest) return { kind: 'mismatch' };
  if (row.state === 'in_progress' || row.status === null || row.body === null) return { kind: 'in_progress' };
  const sealed = JSON.parse(row.body) as Sealed;
  return { kind: 'replay', answer: { status: row.status, headers: row.headers ?? {}, body: vault.openSecret(PURPOSE, sealed) } };
}
