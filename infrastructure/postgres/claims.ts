import { createHmac } from 'node:crypto';
import type { ClaimRequest, Claims } from '../../application/ports/claims.ts';
import type { Database, Queryable } from './database.ts';

export type ClaimsOptions = {
  readonly database: Database;
  /** Key of the HMAC under which values are stored. */
  readonly key: Uint8Array;
  /** Name of this process; what others of the same machine left is judged sooner once they are gone. */
  readonly instance?: string;
  /** Whether the named process surely runs no more. */
  readonly isGone?: (instance: string) => boolean;
};

export type ReapOptions = {
  /** What a process that may still run has left unsettled for so long; longer than any command takes. Default 60. */
  readonly olderThanSeconds?: number;
  /** The same for a process that is gone; longer than the database goes on with the last append of one. Default 12. */
  readonly goneForSeconds?: number;
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
const ORDERED = 'unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as r (tenant_id, scope, value_hmac, place)';
const SAME_VALUE = 'c.tenant_id = r.tenant_id and c.scope = r.scope and c.value_hmac = r.value_hmac';

/** Rows of one statement; a content type may hold millions of values. */
const ASSUMED_AT_ONCE = 5000;

/** Commands that do not name themselves. */
const ANY = '';

/** A command and the process that runs it. */
type By = { readonly command: string; readonly instance: string };

class Held extends Error {
  readonly requests: readonly ClaimRequest[];
  constructor(requests: readonly ClaimRequest[]) {
    super('held by another stream');
    this.requests = requests;
  }
}

/** Unique values in `operational.claims`; a race for one has one winner, decided by the unique index (spec 5, rule 8). */
export function createClaims({ database, key, instance = '', isGone = () => false }: ClaimsOptions): PostgresClaims {
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

  async function claim(owner: string, requests: readonly ClaimRequest[], releasing: readonly ClaimRequest[] = [], command = ANY): Promise<readonly ClaimRequest[]> {
    const wanted = keyed(requests);
    const leaving = keyed(releasing);
    if (wanted.length === 0 && leaving.length === 0) return [];
    try {
      await database.transaction(async (tx) => {
        if (wanted.length > 0) await take(tx, owner, wanted, { command, instance });
        if (leaving.length > 0) await touch(tx, owner, leaving, { command, instance });
      });
      return [];
    } catch (error) {
      if (error instanceof Held) return error.requests;
      throw error;
    }
  }

  async function confirm(owner: string, confirmed: readonly ClaimRequest[], released: readonly ClaimRequest[], command = ANY): Promise<void> {
    const staying = keyed(confirmed);
    const going = keyed(released);
    if (staying.length === 0 && going.length === 0) return;
    await database.transaction(async (tx) => {
      if (going.length > 0) await release(tx, owner, going, command);
      if (staying.length > 0) await settle(tx, owner, staying, { command, instance });
    });
  }

  async function heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]> {
    const rows = keyed(requests);
    if (rows.length === 0) return [];
    const held = await database.query<{ tenant_id: string; scope: string; value_hmac: Buffer }>(
      `select c.tenant_id, c.scope, c.value_hmac from operational.claims c join ${REQUESTED} on ${SAME_VALUE} where c.owner <> $1`,
      parameters(owner, rows),
    );
    return rows.filter(({ tenant, scope, hmac }) => held.some((row) => row.tenant_id === tenant && row.scope === scope && hmac.equals(row.value_hmac))).map(({ request }) => request);
  }

  async function ownerOf(request: ClaimRequest): Promise<string | undefined> {
    const [row] = keyed([request]);
    if (!row) return undefined;
    const held = await database.query<{ owner: string }>(
      'select owner from operational.claims where tenant_id = $1 and scope = $2 and value_hmac = $3', [row.tenant, row.scope, row.hmac], 'claim-owner',
    );
    return held[0]?.owner;
  }

  async function abandon(owner: string, requests: readonly ClaimRequest[], command = ANY): Promise<void> {
    const rows = keyed(requests);
    if (rows.length === 0) return;
    await database.execute(
      `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.state = 'pending' and c.command = $5 and c.sole`,
      [...parameters(owner, rows), command],
    );
  }

  async function assume(values: ReadonlyMap<string, readonly ClaimRequest[]>): Promise<void> {
    const all = [...values].flatMap(([owner, requests]) => keyed(requests).map((row) => ({ owner, ...row })));
    for (let from = 0; from < all.length; from += ASSUMED_AT_ONCE) {
      const rows = all.slice(from, from + ASSUMED_AT_ONCE);
      await database.execute(
        `insert into operational.claims (tenant_id, scope, value_hmac, owner, state, unsettled_since)
         select tenant_id, scope, value_hmac, owner, 'pending', clock_timestamp() from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as r (owner, tenant_id, scope, value_hmac)
         on conflict (tenant_id, scope, value_hmac) do nothing`,
        [rows.map(({ owner }) => owner), rows.map(({ tenant }) => tenant), rows.map(({ scope }) => scope), rows.map(({ hmac }) => hmac)],
      );
    }
  }

  async function doubtOthers({ tenant, scope }: Pick<ClaimRequest, 'tenant' | 'scope'>, values: ReadonlyMap<string, readonly ClaimRequest[]>): Promise<void> {
    const rows = [...values].flatMap(([owner, requests]) => keyed(requests.filter((request) => request.scope === scope)).map(({ hmac }) => ({ owner, hmac })));
    await database.execute(
      `update operational.claims c set unsettled_since = clock_timestamp() where tenant_id = $1 and scope = $2 and unsettled_since is null
         and not exists (select 1 from unnest($3::text[], $4::bytea[]) as r (owner, value_hmac) where r.owner = c.owner and r.value_hmac = c.value_hmac)`,
      [tenant, scope, rows.map(({ owner }) => owner), rows.map(({ hmac }) => hmac)],
    );
  }

  async function doubtScopes(tenant: string, prefix: string): Promise<void> {
    await database.execute('update operational.claims set unsettled_since = clock_timestamp() where tenant_id = $1 and starts_with(scope, $2) and unsettled_since is null', [tenant, prefix]);
  }

  async function endScopes(tenant: string, prefix: string): Promise<void> {
    await database.execute('delete from operational.claims where tenant_id = $1 and starts_with(scope, $2)', [tenant, prefix]);
  }

  async function reap({ olderThanSeconds = 60, goneForSeconds = 12, heldBy, limit = 100 }: ReapOptions): Promise<number> {
    const left = await database.query<{ instance: string }>(
      `select distinct instance from operational.claims where unsettled_since < clock_timestamp() - $1 * interval '1 second'`,
      [Math.min(goneForSeconds, olderThanSeconds)],
    );
    const gone = left.map((row) => row.instance).filter((name) => name !== instance && isGone(name));
    // What is touched from here on is left to those who touch it.
    const owners = await database.query<{ owner: string; off: string; off_gone: string }>(
      `with cut as materialized (select clock_timestamp() - $1 * interval '1 second' as off, clock_timestamp() - $2 * interval '1 second' as off_gone)
       select owner, min(off)::text as off, min(off_gone)::text as off_gone from operational.claims c, cut
       where ${isLeft('off', 'off_gone', '$3')} group by owner order by min(unsettled_since) limit $4`,
      [olderThanSeconds, goneForSeconds, gone, limit],
    );
    let freed = 0;
    for (const { owner, off, off_gone } of owners) {
      const held = keyed(await heldBy(owner));
      freed += await database.transaction(async (tx) => {
        if (held.length > 0) await recognise(tx, owner, held, [off, off_gone, gone]);
        return tx.execute(`delete from operational.claims c where owner = $1 and ${isLeft('$2::timestamptz', '$3::timestamptz', '$4')}`, [owner, off, off_gone, gone]);
      });
    }
    return freed;
  }

  return { claim, confirm, heldByOthers, ownerOf, abandon, assume, doubtOthers, doubtScopes, endScopes, reap };
}

function parameters(owner: string, rows: readonly Keyed[]): readonly unknown[] {
  return [owner, rows.map(({ tenant }) => tenant), rows.map(({ scope }) => scope), rows.map(({ hmac }) => hmac)];
}

/** @throws Held with every value of another owner, which undoes the whole claim */
async function take(tx: Queryable, owner: string, rows: readonly Keyed[], { command, instance }: By): Promise<void> {
  // The conflicting row is locked by the no-op update, so that it can't go between here and the commit.
  const taken = await tx.query<{ owner: string; tenant_id: string; scope: string; value_hmac: Buffer }>(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since, command, sole, instance)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp(), $5, true, $6 from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set
       unsettled_since = case when c.owner = excluded.owner then excluded.unsettled_since else c.unsettled_since end,
       command = case when c.owner = excluded.owner then excluded.command else c.command end,
       instance = case when c.owner = excluded.owner then excluded.instance else c.instance end,
       sole = c.sole and (c.owner <> excluded.owner or c.command = excluded.command)
     returning c.owner, c.tenant_id, c.scope, c.value_hmac`,
    [...parameters(owner, rows), command, instance],
  );
  const lost = taken.filter((row) => row.owner !== owner);
  if (lost.length === 0) return;
  throw new Held(
    rows
      .filter(({ tenant, scope, hmac }) => lost.some((row) => row.tenant_id === tenant && row.scope === scope && hmac.equals(row.value_hmac)))
      .map(({ request }) => request),
  );
}

/** Marks values that the command is about to give up. */
async function touch(tx: Queryable, owner: string, rows: readonly Keyed[], { command, instance }: By): Promise<void> {
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp(), command = $5, instance = $6, sole = c.sole and c.command = $5 from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1`,
    [...parameters(owner, rows), command, instance],
  );
}

/**
 * The stream holds the values. One that another command touched since is that command's to settle. One that is gone is taken again, because
 * nobody else may have it; but it may have been given up meanwhile: the reaper looks.
 */
async function settle(tx: Queryable, owner: string, rows: readonly Keyed[], { command, instance }: By): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since, command, instance)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp(), $5, $6 from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and c.command = excluded.command`,
    [...parameters(owner, rows), command, instance],
  );
}

/** The stream holds the values no more. Those that another command touched since may be held again: the reaper looks, should that one not. */
async function release(tx: Queryable, owner: string, rows: readonly Keyed[], command: string): Promise<void> {
  await tx.execute(`delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.command = $5`, [...parameters(owner, rows), command]);
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp() from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.unsettled_since is null`,
    parameters(owner, rows),
  );
}

/** What the reaper found in the stream. Claims that a command has touched meanwhile are left to it. */
async function recognise(tx: Queryable, owner: string, rows: readonly Keyed[], left: readonly unknown[]): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp() from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and ${isLeft('$5::timestamptz', '$6::timestamptz', '$7')}`,
    [...parameters(owner, rows), ...left],
  );
}

/** SQL: the claim `c` was left unsettled, before `off` by a process that may still run, before `offGone` by one that is gone. */
function isLeft(off: string, offGone: string, gone: string): string {
  return `(c.unsettled_since < ${off} or (c.unsettled_since < ${offGone} and c.instance = any(${gone}::text[])))`;
}
