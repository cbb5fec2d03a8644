import { createHmac } from 'node:crypto';
import type { ClaimRequest, Claims } from '../../application/ports/claims.ts';
import type { Database, Queryable } from './database.ts';

export type ClaimsOptions = {
  readonly database: Database;
  /** Key of the HMAC under which values are stored. */
  readonly key: Uint8Array;
};

export type ReapOptions = {
  /** Only what a command has left unsettled for so long; longer than any command takes. Default 60. */
  readonly olderThanSeconds?: number;
  /** The unique values that the owner's stream holds now: the stream is the truth. */
  readonly heldBy: (owner: string) => Promise<readonly ClaimRequest[]>;
  /** Most owners looked at. Default 100. */
  readonly limit?: number;
};

/** The port, and what a crash needs after it. */
export type PostgresClaims = Claims & {
  /** Settles what crashed commands left: values that the owner's stream holds are confirmed, its others go. @returns values set free */
  reap(options: ReapOptions): Promise<number>;
};

/** A claim as its row: the value only as its HMAC. */
type Keyed = { readonly tenant: string; readonly scope: string; readonly hmac: Buffer; readonly request: ClaimRequest };

/** Requests joined to rows; columns in the order of `parameters`. */
const REQUESTED = 'unnest($2::text[], $3::text[], $4::bytea[]) as r (tenant_id, scope, value_hmac)';
const SAME_VALUE = 'c.tenant_id = r.tenant_id and c.scope = r.scope and c.value_hmac = r.value_hmac';

class Held extends Error {
  readonly requests: readonly ClaimRequest[];
  constructor(requests: readonly ClaimRequest[]) {
    super('held by another stream');
    this.requests = requests;
  }
}

/** Unique values in `operational.claims`; a race for one has one winner, decided by the unique index (spec 5, rule 8). */
export function createClaims({ database, key }: ClaimsOptions): PostgresClaims {
  /** One per value, in the order that every process locks them in. */
  function keyed(requests: readonly ClaimRequest[]): readonly Keyed[] {
    const byRow = new Map<string, Keyed>();
    for (const request of requests) {
      const { tenant, scope, value } = request;
      const hmac = createHmac('sha256', key).update(JSON.stringify([tenant, scope, value])).digest();
      byRow.set(`${tenant}\n${scope}\n${hmac.toString('hex')}`, { tenant, scope, hmac, request });
    }
    return [...byRow].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }

  async function claim(owner: string, requests: readonly ClaimRequest[], releasing: readonly ClaimRequest[] = []): Promise<readonly ClaimRequest[]> {
    const wanted = keyed(requests);
    const leaving = keyed(releasing);
    if (wanted.length === 0 && leaving.length === 0) return [];
    try {
      await database.transaction(async (tx) => {
        if (wanted.length > 0) await take(tx, owner, wanted);
        if (leaving.length > 0) {
          await tx.execute(
            `update operational.claims c set unsettled_since = clock_timestamp() from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1`,
            parameters(owner, leaving),
          );
        }
      });
      return [];
    } catch (error) {
      if (error instanceof Held) return error.requests;
      throw error;
    }
  }

  async function confirm(owner: string, confirmed: readonly ClaimRequest[], released: readonly ClaimRequest[]): Promise<void> {
    const staying = keyed(confirmed);
    const going = keyed(released);
    if (staying.length === 0 && going.length === 0) return;
    await database.transaction(async (tx) => {
      if (going.length > 0) await remove(tx, owner, going);
      // Written again if it is gone: the append went through, so the value is the owner's.
      if (staying.length > 0) await settle(tx, owner, staying);
    });
  }

  async function abandon(owner: string, requests: readonly ClaimRequest[]): Promise<void> {
    const rows = keyed(requests);
    if (rows.length === 0) return;
    await database.execute(
      `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.state = 'pending'`,
      parameters(owner, rows),
    );
  }

  async function reap({ olderThanSeconds = 60, heldBy, limit = 100 }: ReapOptions): Promise<number> {
    const owners = await database.query<{ owner: string }>(
      `select owner from operational.claims where unsettled_since < clock_timestamp() - $1 * interval '1 second'
       group by owner order by min(unsettled_since) limit $2`,
      [olderThanSeconds, limit],
    );
    let freed = 0;
    for (const { owner } of owners) {
      const held = keyed(await heldBy(owner));
      freed += await database.transaction(async (tx) => {
        if (held.length > 0) await settle(tx, owner, held);
        return tx.execute(
          `delete from operational.claims where owner = $1 and unsettled_since < clock_timestamp() - $2 * interval '1 second'`,
          [owner, olderThanSeconds],
        );
      });
    }
    return freed;
  }

  return { claim, confirm, abandon, reap };
}

function parameters(owner: string, rows: readonly Keyed[]): readonly unknown[] {
  return [owner, rows.map(({ tenant }) => tenant), rows.map(({ scope }) => scope), rows.map(({ hmac }) => hmac)];
}

/** @throws Held with every value of another owner, which undoes the whole claim */
async function take(tx: Queryable, owner: string, rows: readonly Keyed[]): Promise<void> {
  // The conflicting row is locked by the no-op update, so that it can't go between here and the commit.
  const taken = await tx.query<{ owner: string; tenant_id: string; scope: string; value_hmac: Buffer }>(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp()
     from unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as r (tenant_id, scope, value_hmac, place) order by place
     on conflict (tenant_id, scope, value_hmac) do update
       set unsettled_since = case when c.owner = excluded.owner and c.state = 'pending' then excluded.unsettled_since else c.unsettled_since end
     returning c.owner, c.tenant_id, c.scope, c.value_hmac`,
    parameters(owner, rows),
  );
  const lost = taken.filter((row) => row.owner !== owner);
  if (lost.length === 0) return;
  throw new Held(
    rows
      .filter(({ tenant, scope, hmac }) => lost.some((row) => row.tenant_id === tenant && row.scope === scope && hmac.equals(row.value_hmac)))
      .map(({ request }) => request),
  );
}

async function settle(tx: Queryable, owner: string, rows: readonly Keyed[]): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state)
     select tenant_id, scope, value_hmac, $1, 'confirmed'
     from unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as r (tenant_id, scope, value_hmac, place) order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null where c.owner = excluded.owner`,
    parameters(owner, rows),
  );
}

async function remove(tx: Queryable, owner: string, rows: readonly Keyed[]): Promise<void> {
  await tx.execute(`delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1`, parameters(owner, rows));
}
