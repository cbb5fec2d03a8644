import type { ClaimRequest } from '../../application/ports/claims.ts';
import { type KeyedClaim, ORDERED, REQUESTED, SAME_VALUE, claimParameters } from './claim-rows.ts';
import type { Transaction } from './database.ts';

/** A command and the process that runs it. */
export type CommandRun = { readonly command: string; readonly instance: string };

/** Another stream holds values that a command claims. */
export class HeldByOthers extends Error {
  readonly requests: readonly ClaimRequest[];
  constructor(requests: readonly ClaimRequest[]) {
    super('held by another stream');
    this.requests = requests;
  }
}

/** @throws HeldByOthers with the values of other owners; the whole claim is then rolled back */
export async function insertClaims(
  tx: Transaction,
  owner: string,
  rows: readonly KeyedClaim[],
  { command, instance }: CommandRun,
): Promise<void> {
  // The no-op update locks the conflicting row, so that it cannot be deleted before the commit.
  const claimRows = await tx.query<{ owner: string; tenant_id: string; scope: string; value_hmac: Buffer }>(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since, command, sole,
     instance)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp(), $5, true, $6 from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set
       unsettled_since = case when c.owner = excluded.owner then excluded.unsettled_since else c.unsettled_since end,
       command = case when c.owner = excluded.owner then excluded.command else c.command end,
       instance = case when c.owner = excluded.owner then excluded.instance else c.instance end,
       sole = c.sole and (c.owner <> excluded.owner or c.command = excluded.command)
     returning c.owner, c.tenant_id, c.scope, c.value_hmac`,
    [...claimParameters(owner, rows), command, instance],
  );
  const lost = claimRows.filter((row) => row.owner !== owner);
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
export async function markClaimsForRelease(
  tx: Transaction,
  owner: string,
  rows: readonly KeyedClaim[],
  { command, instance }: CommandRun,
): Promise<void> {
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp(), command = $5, instance = $6,
       sole = c.sole and c.command = $5
     from ${REQUESTED} where ${SAME_VALUE} and c.owner = $1`,
    [...claimParameters(owner, rows), command, instance],
  );
}

/**
 * Confirms values that the stream has. A claim that another command touched since is left to that command. A missing
 * claim is inserted again as pending, because no other stream may have it; the stream may have released it meanwhile,
 * so the reaper checks it.
 */
export async function confirmClaims(
  tx: Transaction,
  owner: string,
  rows: readonly KeyedClaim[],
  { command, instance }: CommandRun,
): Promise<void> {
  await tx.execute(
    `insert into operational.claims as c (tenant_id, scope, value_hmac, owner, state, unsettled_since, command,
     instance)
     select tenant_id, scope, value_hmac, $1, 'pending', clock_timestamp(), $5, $6 from ${ORDERED} order by place
     on conflict (tenant_id, scope, value_hmac) do update set state = 'confirmed', unsettled_since = null, sole = false
       where c.owner = excluded.owner and c.command = excluded.command`,
    [...claimParameters(owner, rows), command, instance],
  );
}

/**
 * Deletes claims of values that the stream no longer has. Claims that another command touched since may be valid again;
 * they are marked for the reaper in case that command crashes.
 */
export async function deleteClaims(
  tx: Transaction,
  owner: string,
  rows: readonly KeyedClaim[],
  command: string,
): Promise<void> {
  await tx.execute(
    `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.command = $5`,
    [...claimParameters(owner, rows), command],
  );
  await tx.execute(
    `update operational.claims c set unsettled_since = clock_timestamp() from ${REQUESTED}
     where ${SAME_VALUE} and c.owner = $1 and c.unsettled_since is null`,
    claimParameters(owner, rows),
  );
}
