import type { JWK } from 'jose';
import type { AuditDependencies } from '../../../application/platform/audit-dependencies.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { createAuditSigner } from '../../crypto/audit-signer.ts';
import { deriveKey } from '../../crypto/derive-key.ts';
import { createAuditChain } from '../../postgres/audit-chain.ts';
import type { Platform } from '../platform/platform.ts';

export type Audit = {
  readonly dependencies: AuditDependencies;
  /** Public key that verifies audit signatures. */
  readonly publicKey: JWK;
};

export type AuditPlatform = Pick<Platform, 'database' | 'eventStore' | 'now' | 'newId'> & {
  readonly settings: Pick<Settings, 'auditHmacKey' | 'encryptionKey'>;
};

/**
 * The audit chain and its signer. Outside production `SVC_AUDIT_HMAC_KEY` may be unset: the key is then derived from
 * `ENCRYPTION_KEY`.
 */
export async function createAudit({ database, eventStore, settings, now, newId }: AuditPlatform): Promise<Audit> {
  const key =
    settings.auditHmacKey === undefined
      ? deriveKey(settings.encryptionKey ?? '', 'audit')
      : Buffer.from(settings.auditHmacKey, 'hex');
  const signer = await createAuditSigner({ key });
  return {
    dependencies: { eventStore, chain: createAuditChain({ database }), signer, key, now, newId },
    publicKey: signer.publicKey,
  };
}
