import type { Vault } from '../../../application/ports/vault.ts';
import { deriveKey } from '../../crypto/derive-key.ts';
import { type PostgresClaims, createClaims } from '../../postgres/claims.ts';
import { type IdempotencyKeys, createIdempotencyKeys } from '../../postgres/idempotency.ts';
import { hasExited } from '../../postgres/instance.ts';
import { type PostgresRateCounters, createRateCounters } from '../../postgres/rate-counters.ts';
import type { Stores } from './open-stores.ts';

/** State that several modules share and that no event records; in the schema `operational`. */
export type OperationalState = {
  /** Claims of unique values. */
  readonly claims: PostgresClaims;
  readonly idempotency: IdempotencyKeys;
  readonly rateCounters: PostgresRateCounters;
};

/** `encryptionKey`: the keys of the HMACs in these tables are derived from it. */
export function createOperationalState(
  { database, instanceId }: Pick<Stores, 'database' | 'instanceId'>,
  { vault, encryptionKey }: { readonly vault: Vault; readonly encryptionKey: string },
): OperationalState {
  return {
    claims: createClaims({ database, key: deriveKey(encryptionKey, 'claims'), instance: instanceId, hasExited }),
    idempotency: createIdempotencyKeys({ database, vault }),
    rateCounters: createRateCounters({ database, key: deriveKey(encryptionKey, 'rate-counters') }),
  };
}
