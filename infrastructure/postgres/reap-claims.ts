import type { ClaimRequest } from '../../application/ports/claims.ts';
import { isOutage } from '../../application/ports/transient-errors.ts';
import { type KeyedClaim, ORDERED, claimParameters, keyedRows } from './claim-rows.ts';
import type { Database, Transaction } from './database.ts';

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
   * Minimum age in seconds of unsettled claims of a process that may still run; longer than any command takes. Default
   * 60.
   */
  readonly olderThanSeconds?: number;
  /**
   * Minimum age in seconds of unsettled claims of a process that has exited; longer than the database may still execute
   * its last append. Default 12.
   */
  readonly exitedForSeconds?: number;
  /** The unique values that the owner's stream has now. The stream decides. */
  readonly heldBy: (owner: string) => Promise<readonly ClaimRequest[]>;
  /** Called when an owner cannot be checked; its claims are checked again after the minimum age. */
  readonly onError?: (owner: string, error: unknown) => void;
  /** Maximum number of owners checked. Default 100. */
  readonly limit?: number;
};

/**
 * Settles the unsettled claims that commands left: confirms values that the owner's stream has, deletes the others.
 * An owner that cannot be checked does not stop the others.
 * @returns the number of claims deleted
 * @throws during an outage of the database or the event store
 */
export async function reapClaims(
  { olderThanSeconds = 60, exitedForSeconds = 12, heldBy, onError, limit = 100 }: ReapOptions,
  { database, key, instance = '', hasExited = () => false }: ClaimsOptions,
): Promise<number> {
  const left = await database.query<{ instance: string }>(
    `select distinct instance from operational.claims
     where unsettled_since < clock_timestamp() - $1 * interval '1 second'`,
    [Math.min(exitedForSeconds, olderThanSeconds)],
  );
  const exited = left.map((row) => row.instance).filter((name) => name !== instance && hasExited(name));
  // Claims touched after these times are left to the commands that touched them.
  const owners = await database.query<{ owner: string; off: string; off_gone: string }>(
    `with cut as materialized (select clock_timestamp() - $1 * interval '1 second' as off,
     clock_timestamp() - $2 * interval '1 second' as off_gone)
     select owner, min(off)::text as off, min(off_gone)::text as off_gone from operational.claims c, cut
     where ${isOverdue('off', 'off_gone', '$3')} group by owner order by min(unsettled_since) limit $4`,
    [olderThanSeconds, exitedForSeconds, exited, limit],
  );
  let freed = 0;
  for (const { owner, off, off_gone } of owners) {
    const overdue = [off, off_gone, exited] as const;
    try {
      freed += await settleOverdue(owner, { held: keyedRows(await heldBy(owner), key), overdue }, database);
    } catch (error) {
      // Every check fails during an outage; the next run checks the same owners.
      if (isOutage(error)) throw error;
      // The next run checks the other owners first, so that owners that cannot be checked never use up a run.
      await postpone(owner, overdue, database);
      onError?.(owner, error);
    }
  }
  return freed;
}

type Overdue = readonly [off: string, offGone: string, exited: readonly string[]];

/** Confirms the overdue claims of values that the owner has, and deletes its other overdue claims. @returns how many */
function settleOverdue(
  owner: string,
  { held: heldClaims, overdue }: { readonly held: readonly KeyedClaim[]; readonly overdue: Overdue },
  database: Database,
): Promise<number> {
  return database.transaction(async (tx) => {
    if (heldClaims.length > 0) await confirmFound(tx, owner, heldClaims, overdue);
    return tx.execute(
      `delete from operational.claims c where owner = $1 and ${isOverdue('$2::timestamptz', '$3::timestamptz', '$4')}`,
      [owner, ...overdue],
    );
  });
}

/** Makes the overdue claims of an owner new, so that the reaper checks them after their minimum age. */
async function postpone(owner: string, overdue: Overdue, database: Database): Promise<void> {
  await database.execute(
    `update operational.claims c set unsettled_since = clock_timestamp()
     where owner = $1 and ${isOverdue('$2::timestamptz', '$3::timestamptz', '$4')}`,
    [owner, ...overdue],
  );
}

/** Confirms the values that the reaper found in the stream. Claims that a command touched meanwhile are left to it. */
async function confirmFound(
  tx: Transaction,
  owner: string,
  rows: readonly KeyedClaim[],
  overdue: Overdue,
): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp() from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and ${isOverdue('$5::timestamptz', '$6::timestamptz', '$7')}`,
    [...claimParameters(owner, rows), ...overdue],
  );
}

/**
 * SQL condition: the claim `c` has been open since before `off`, or since before `offGone` by a process that has
 * exited.
 */
function isOverdue(off: string, offGone: string, exited: string): string {
  return `(c.unsettled_since < ${off} or (c.unsettled_since < ${offGone} and c.instance = any(${exited}::text[])))`;
}
