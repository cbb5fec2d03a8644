import { createHmac } from 'node:crypto';
import type {
  ClaimChange,
  ClaimRequest,
  ClaimRun,
  Claims,
  ClaimScopes,
  ValuesByOwner,
} from '../../application/ports/claims.ts';
import type { Database, Queryable } from './database.ts';

export type ClaimsOptions = {
  readonly database: Database;
  /** Key of the HMAC under which values are stored. */
  readonly key: Uint8Array;
  /**
   * Name of this process. Claims left by a process of the same machine are reaped sooner once that process has exited.
   */
  readonly instance?: string;
  /** Whether the named process is known to have exited. */
  readonly hasExited?: (instance: string) => boolean;
};

export type ReapOptions = {
  /**
   * Minimum age in seconds of open claims of a process that may still run; longer than any command takes. Default 60.
   */
  readonly olderThanSeconds?: number;
  /**
   * Minimum age in seconds of open claims of a process that has exited; longer than the database may still execute its
   * last append. Default 12.
   */
  readonly exitedForSeconds?: number;
  /** The unique values that the owner's stream has now. The stream decides. */
  readonly heldBy: (owner: string) => Promise<readonly ClaimRequest[]>;
  /** Maximum number of owners checked. Default 100. */
  readonly limit?: number;
};

/** The port, with the reaper. */
export type PostgresClaims = Claims & {
  /**
   * Resolves the open claims of crashed commands: confirms values that the owner's stream has and deletes the others.
   * @returns the number of claims deleted
   */
  reap(options: ReapOptions): Promise<number>;
};

/** A claim with the HMAC of its value, as stored. */
type Keyed = { readonly tenant: string; readonly scope: string; readonly hmac: Buffer; readonly request: ClaimRequest };

/** The requests as a row set; columns in the order of `parameters`. */
const REQUESTED = 'unnest($2::text[], $3::text[], $4::bytea[]) as r (tenant_id, scope, value_hmac)';
const ORDERED =
  'unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as r (tenant_id, scope, value_hmac, place)';
const SAME_VALUE = 'c.tenant_id = r.tenant_id and c.scope = r.scope and c.value_hmac = r.value_hmac';

/** Rows per statement; a content type may have millions of values. */
const BACKFILLED_AT_ONCE = 5000;

/** The command name when the caller gives none. */
const UNNAMED = '';

/** A command and the process that runs it. */
type CommandRun = { readonly command: string; readonly instance: string };

class HeldByOthers extends Error {
  readonly requests: readonly ClaimRequest[];
  constructor(requests: readonly ClaimRequest[]) {
    super('held by another stream');
    this.requests = requests;
  }
}

/** Creates the claims of unique values in `operational.claims`. The unique index decides races: one command wins. */
export function createClaims({ database, key, instance = '', hasExited = () => false }: ClaimsOptions): PostgresClaims {
  /** One row per value, sorted, so that every process locks rows in the same order. */
  function rowsOf(requests: readonly ClaimRequest[]): readonly Keyed[] {
    const byRow = new Map<string, Keyed>();
    for (const request of requests) {
      const { tenant, scope, value } = request;
      const hmac = createHmac('sha256', key)
        .update(JSON.stringify([tenant, scope, value]))
        .digest();
      byRow.set(`${tenant}\n${scope}\n${hmac.toString('hex')}`, { tenant, scope, hmac, request });
    }
    return [...byRow].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }

  async function claim({
    owner,
    claimed,
    released = [],
    command = UNNAMED,
  }: ClaimChange & ClaimRun): Promise<readonly ClaimRequest[]> {
    const wanted = rowsOf(claimed);
    const leaving = rowsOf(released);
    if (wanted.length === 0 && leaving.length === 0) return [];
    try {
      await database.transaction(async (tx) => {
        if (wanted.length > 0) await take(tx, owner, wanted, { command, instance });
        if (leaving.length > 0) await touch(tx, owner, leaving, { command, instance });
      });
      return [];
    } catch (error) {
      if (error instanceof HeldByOthers) return error.requests;
      throw error;
    }
  }

  async function confirm({
    owner,
    confirmed,
    released,
    command = UNNAMED,
  }: Parameters<Claims['confirm']>[0]): Promise<void> {
    const staying = rowsOf(confirmed);
    const going = rowsOf(released);
    if (staying.length === 0 && going.length === 0) return;
    await database.transaction(async (tx) => {
      if (going.length > 0) await release(tx, owner, going, command);
      if (staying.length > 0) await settle(tx, owner, staying, { command, instance });
    });
  }

  async function heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]> {
    const rows = rowsOf(requests);
    if (rows.length === 0) return [];
    const held = await database.query<{ tenant_id: string; scope: string; value_hmac: Buffer }>(
      `select c.tenant_id, c.scope, c.value_hmac from operational.claims c join ${REQUESTED} on ${SAME_VALUE} where c.owner <> $1`,
      parameters(owner, rows),
    );
    return rows
      .filter(({ tenant, scope, hmac }) =>
        held.some((row) => row.tenant_id === tenant && row.scope === scope && hmac.equals(row.value_hmac)),
      )
      .map(({ request }) => request);
  }

  async function ownerOf(request: ClaimRequest): Promise<string | undefined> {
    const [row] = rowsOf([request]);
    if (!row) return undefined;
    const held = await database.query<{ owner: string }>(
      'select owner from operational.claims where tenant_id = $1 and scope = $2 and value_hmac = $3',
      [row.tenant, row.scope, row.hmac],
      'claim-owner',
    );
    return held[0]?.owner;
  }

  async function abandon({ owner, claimed, command = UNNAMED }: Parameters<Claims['abandon']>[0]): Promise<void> {
    const rows = rowsOf(claimed);
    if (rows.length === 0) return;
    await database.execute(
      `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.state = 'pending' and c.command = $5 and c.sole`,
      [...parameters(owner, rows), command],
    );
  }

  async function backfill(values: ValuesByOwner): Promise<void> {
    const all = [...values].flatMap(([owner, requests]) => rowsOf(requests).map((row) => ({ owner, ...row })));
    for (let from = 0; from < all.length; from += BACKFILLED_AT_ONCE) {
      const rows = all.slice(from, from + BACKFILLED_AT_ONCE);
      await database.execute(
        `insert into operational.claims (tenant_id, scope, value_hmac, owner, state, unsettled_since)
         select tenant_id, scope, value_hmac, owner, 'pending', clock_timestamp() from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as r (owner, tenant_id, scope, value_hmac)
         on conflict (tenant_id, scope, value_hmac) do nothing`,
        [
          rows.map(({ owner }) => owner),
          rows.map(({ tenant }) => tenant),
          rows.map(({ scope }) => scope),
          rows.map(({ hmac }) => hmac),
        ],
      );
    }
  }

  async function unsettleOthers({ tenant, scope, values }: Parameters<Claims['unsettleOthers']>[0]): Promise<void> {
    const rows = [...values].flatMap(([owner, requests]) =>
      rowsOf(requests.filter((request) => request.scope === scope)).map(({ hmac }) => ({ owner, hmac })),
    );
    await database.execute(
      `update operational.claims c set unsettled_since = clock_timestamp() where tenant_id = $1 and scope = $2 and unsettled_since is null
         and not exists (select 1 from unnest($3::text[], $4::bytea[]) as r (owner, value_hmac) where r.owner = c.owner and r.value_hmac = c.value_hmac)`,
      [tenant, scope, rows.map(({ owner }) => owner), rows.map(({ hmac }) => hmac)],
    );
  }

  async function unsettleScopes({ tenant, prefix }: ClaimScopes): Promise<void> {
    await database.execute(
      'update operational.claims set unsettled_since = clock_timestamp() where tenant_id = $1 and starts_with(scope, $2) and unsettled_since is null',
      [tenant, prefix],
    );
  }

  async function releaseScopes({ tenant, prefix }: ClaimScopes): Promise<void> {
    await database.execute('delete from operational.claims where tenant_id = $1 and starts_with(scope, $2)', [
      tenant,
      prefix,
    ]);
  }

  async function reap({
    olderThanSeconds = 60,
    exitedForSeconds = 12,
    heldBy,
    limit = 100,
  }: ReapOptions): Promise<number> {
    const left = await database.query<{ instance: string }>(
      `select distinct instance from operational.claims where unsettled_since < clock_timestamp() - $1 * interval '1 second'`,
      [Math.min(exitedForSeconds, olderThanSeconds)],
    );
    const exited = left.map((row) => row.instance).filter((name) => name !== instance && hasExited(name));
    // Claims touched after these times are left to the commands that touched them.
    const owners = await database.query<{ owner: string; off: string; off_gone: string }>(
      `with cut as materialized (select clock_timestamp() - $1 * interval '1 second' as off, clock_timestamp() - $2 * interval '1 second' as off_gone)
       select owner, min(off)::text as off, min(off_gone)::text as off_gone from operational.claims c, cut
       where ${isOverdue('off', 'off_gone', '$3')} group by owner order by min(unsettled_since) limit $4`,
      [olderThanSeconds, exitedForSeconds, exited, limit],
    );
    let freed = 0;
    for (const { owner, off, off_gone } of owners) {
      const held = rowsOf(await heldBy(owner));
      freed += await database.transaction(async (tx) => {
        if (held.length > 0) await confirmFound(tx, owner, held, [off, off_gone, exited]);
        return tx.execute(
          `delete from operational.claims c where owner = $1 and ${isOverdue('$2::timestamptz', '$3::timestamptz', '$4')}`,
          [owner, off, off_gone, exited],
        );
      });
    }
    return freed;
  }

  return {
    claim,
    confirm,
    heldByOthers,
    ownerOf,
    abandon,
    backfill,
    unsettleOthers,
    unsettleScopes,
    releaseScopes,
    reap,
  };
}

function parameters(owner: string, rows: readonly Keyed[]): readonly unknown[] {
  return [owner, rows.map(({ tenant }) => tenant), rows.map(({ scope }) => scope), rows.map(({ hmac }) => hmac)];
}

/** @throws HeldByOthers with the values of other owners; the whole claim is then rolled back */
async function take(
  tx: Queryable,
  owner: string,
  rows: readonly Keyed[],
  { command, instance }: CommandRun,
): Promise<void> {
  // The no-op update locks the conflicting row, so that it cannot be deleted before the commit.
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
  throw new HeldByOthers(
    rows
      .filter(({ tenant, scope, hmac }) =>
        lost.some((row) => row.tenant_id === tenant && row.scope === scope && hmac.equals(row.value_hmac)),
      )
      .map(({ request }) => request),
  );
}

/** Marks values that the command will release. */
async function touch(
  tx: Queryable,
  owner: string,
  rows: readonly Keyed[],
  { command, instance }: CommandRun,
): Promise<void> {
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp(), command = $5, instance = $6, sole = c.sole and c.command = $5 from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1`,
    [...parameters(owner, rows), command, instance],
  );
}

/**
 * Confirms values that the stream has. A claim that another command touched since is left to that command. A missing
 * claim is inserted again as pending, because no other stream may have it; the stream may have released it meanwhile,
 * so the reaper checks it.
 */
async function settle(
  tx: Queryable,
  owner: string,
  rows: readonly Keyed[],
  { command, instance }: CommandRun,
): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since, command, instance)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp(), $5, $6 from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and c.command = excluded.command`,
    [...parameters(owner, rows), command, instance],
  );
}

/**
 * Deletes claims of values that the stream no longer has. Claims that another command touched since may be valid again;
 * they are marked for the reaper in case that command crashes.
 */
async function release(tx: Queryable, owner: string, rows: readonly Keyed[], command: string): Promise<void> {
  await tx.execute(
    `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.command = $5`,
    [...parameters(owner, rows), command],
  );
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp() from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.unsettled_since is null`,
    parameters(owner, rows),
  );
}

/** Confirms the values that the reaper found in the stream. Claims that a command touched meanwhile are left to it. */
async function confirmFound(
  tx: Queryable,
  owner: string,
  rows: readonly Keyed[],
  left: readonly unknown[],
): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp() from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and ${isOverdue('$5::timestamptz', '$6::timestamptz', '$7')}`,
    [...parameters(owner, rows), ...left],
  );
}

/**
 * SQL condition: the claim `c` has been open since before `off`, or since before `offGone` by a process that has
 * exited.
 */
function isOverdue(off: string, offGone: string, exited: string): string {
  return `(c.unsettled_since < ${off} or (c.unsettled_since < ${offGone} and c.instance = any(${exited}::text[])))`;
}
