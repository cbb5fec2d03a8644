import type { Vault } from '../../../application/ports/vault.ts';
import { deriveKey } from '../../crypto/derive-key.ts';
import { type PostgresClaims, createClaims } from '../../postgres/claims.ts';
import { type IdempotencyKeys, createIdempotencyKeys } from '../../postgres/idempotency.ts';
import { hasExited } from '../../postgres/instance.ts';
import { type PostgresRateCounters, createRateCounters } from '../../postgres/rate-counters.ts';
import type { OpenStores } from './open-stores.ts';

/** Operational state that several modules use. */
export type SharedState = {
  /** Claims of unique values. */
  readonly claims: PostgresClaims;
  readonly idempotency: IdempotencyKeys;
  readonly rateCounters: PostgresRateCounters;
};

export type SharedStateOptions = Pick<OpenStores, 'database' | 'instanceId'> & {
  readonly vault: Vault;
  /** The keys of the HMACs in these tables are derived from it. */
  readonly encryptionKey: string;
};

/** Creates the adapters of the shared state. Each has a table in the schema `operational`. */
export function createSharedState({ database, instanceId, vault, encryptionKey }: SharedStateOptions): SharedState {
  return {
    claims: createClaims({ database, key: deriveKey(encryptionKey, 'claims'), instance: instanceId, hasExited }),
    idempotency: createIdempotencyKeys({ database, vault }),
    rateCounters: createRateCounters({ database, key: deriveKey(encryptionKey, 'rate-counters') }),
  };
}
