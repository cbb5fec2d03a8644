import type {
  ClaimChange,
  ClaimRequest,
  ClaimRun,
  ClaimScopes,
  Claims,
  ValuesByOwner,
} from '../../application/ports/claims.ts';
import { chunks } from '../../domain/chunks.ts';
import { REQUESTED, SAME_VALUE, claimParameters, keyedRows } from './claim-rows.ts';
import { HeldByOthers, confirmClaims, deleteClaims, insertClaims, markClaimsForRelease } from './claim-statements.ts';
import { type ClaimsOptions, type ReapOptions, reapClaims } from './reap-claims.ts';

/** The port, with the reaper. */
export type PostgresClaims = Claims & {
  /**
   * Resolves the unsettled claims of crashed commands: confirms values that the owner's stream has and deletes the
   * others.
   * @returns the number of claims deleted
   */
  reap(options: ReapOptions): Promise<number>;
};

/** Rows per statement; a content type may have millions of values. */
const BACKFILLED_AT_ONCE = 5000;

/** The command name when the caller gives none. */
const UNNAMED = '';

/** Creates the claims of unique values in `operational.claims`. The unique index decides races: one command wins. */
export function createClaims(options: ClaimsOptions): PostgresClaims {
  const { database, key, instance = '' } = options;

  const rowsOf = (requests: readonly ClaimRequest[]) => keyedRows(requests, key);

  async function claim({
    owner,
    claimed,
    released = [],
    command = UNNAMED,
  }: ClaimChange & ClaimRun): Promise<readonly ClaimRequest[]> {
    const rows = rowsOf(claimed);
    const leaving = rowsOf(released);
    if (rows.length === 0 && leaving.length === 0) return [];
    try {
      await database.transaction(async (tx) => {
        if (rows.length > 0) await insertClaims(tx, owner, rows, { command, instance });
        if (leaving.length > 0) await markClaimsForRelease(tx, owner, leaving, { command, instance });
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
      if (going.length > 0) await deleteClaims(tx, owner, going, command);
      if (staying.length > 0) await confirmClaims(tx, owner, staying, { command, instance });
    });
  }

  async function heldByOthers(owner: string, requests: readonly ClaimRequest[]): Promise<readonly ClaimRequest[]> {
    const rows = rowsOf(requests);
    if (rows.length === 0) return [];
    const held = await database.query<{ tenant_id: string; scope: string; value_hmac: Buffer }>(
      `select c.tenant_id, c.scope, c.value_hmac from operational.claims c join ${REQUESTED} on ${SAME_VALUE}
       where c.owner <> $1`,
      claimParameters(owner, rows),
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
      `delete from operational.claims c using ${REQUESTED} where ${SAME_VALUE} and c.owner = $1 and c.state = 'pending'
       and c.command = $5 and c.sole`,
      [...claimParameters(owner, rows), command],
    );
  }

  async function backfill(values: ValuesByOwner): Promise<void> {
    const all = [...values].flatMap(([owner, requests]) => rowsOf(requests).map((row) => ({ owner, ...row })));
    for (const rows of chunks(all, BACKFILLED_AT_ONCE)) {
      await database.execute(
        `insert into operational.claims (tenant_id, scope, value_hmac, owner, state, unsettled_since)
         select tenant_id, scope, value_hmac, owner, 'pending', clock_timestamp()
         from unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) as r (owner, tenant_id, scope, value_hmac)
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
      `update operational.claims c set unsettled_since = clock_timestamp()
       where tenant_id = $1 and scope = $2 and unsettled_since is null
         and not exists (select 1 from unnest($3::text[], $4::bytea[]) as r (owner, value_hmac)
           where r.owner = c.owner and r.value_hmac = c.value_hmac)`,
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

  return {
    keysOf: (requests) =>
      rowsOf(requests).map(({ tenant, scope, hmac }) => ({ tenant, scope, digest: hmac.toString('hex') })),
    claim,
    confirm,
    heldByOthers,
    ownerOf,
    abandon,
    backfill,
    unsettleOthers,
    unsettleScopes,
    releaseScopes,
    reap: (owners) => reapClaims(owners, options),
  };
}
