import { createHmac } from 'node:crypto';
import type { ClaimRequest } from '../../application/ports/claims.ts';

/** A claim with the HMAC of its value, as stored. */
export type KeyedClaim = {
  readonly tenant: string;
  readonly scope: string;
  readonly hmac: Buffer;
  readonly request: ClaimRequest;
};

/** The requests as a row set; columns in the order of `claimParameters`. */
export const REQUESTED = 'unnest($2::text[], $3::text[], $4::bytea[]) as r (tenant_id, scope, value_hmac)';
export const ORDERED =
  'unnest($2::text[], $3::text[], $4::bytea[]) with ordinality as r (tenant_id, scope, value_hmac, place)';
export const SAME_VALUE = 'c.tenant_id = r.tenant_id and c.scope = r.scope and c.value_hmac = r.value_hmac';

/** One row per value, sorted, so that every process locks rows in the same order. `key` is the key of the HMAC. */
export function keyedRows(requests: readonly ClaimRequest[], key: Uint8Array): readonly KeyedClaim[] {
  const byRow = new Map<string, KeyedClaim>();
  for (const request of requests) {
    const { tenant, scope, value } = request;
    const hmac = createHmac('sha256', key)
      .update(JSON.stringify([tenant, scope, value]))
      .digest();
    byRow.set(`${tenant}\n${scope}\n${hmac.toString('hex')}`, { tenant, scope, hmac, request });
  }
  return [...byRow].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/** The first four parameters of a statement over `REQUESTED` or `ORDERED`. */
export function claimParameters(owner: string, rows: readonly KeyedClaim[]): readonly unknown[] {
  return [owner, rows.map(({ tenant }) => tenant), rows.map(({ scope }) => scope), rows.map(({ hmac }) => hmac)];
}
