import { setTimeout as pause } from 'node:timers/promises';
import type { JWK } from 'jose';
import type { AuditDependencies } from '../../application/platform/seal-audit.ts';
import { chainAudit, sealAudit } from '../../application/platform/seal-audit.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { ORIGIN } from '../../domain/event.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { deriveKey } from '../crypto/derive-key.ts';
import { createSealSigner } from '../crypto/seal-signer.ts';
import { createAuditChain } from '../postgres/audit-chain.ts';
import type { Stores } from './stores.ts';

export type Audit = {
  readonly dependencies: AuditDependencies;
  /** Verifies the signatures of seals. */
  readonly publicKey: JWK;
};

export type AuditOptions = {
  readonly stores: Pick<Stores, 'database' | 'eventStore'>;
  readonly settings: Pick<Settings, 'auditHmacKey' | 'encryptionKey'>;
  readonly now: () => Date;
  readonly newId: () => string;
};

/** Puts the audit chain together. Outside production its key may be unset: then one is made from `ENCRYPTION_KEY`. */
export async function composeAudit({ stores: { database, eventStore }, settings, now, newId }: AuditOptions): Promise<Audit> {
  const key = settings.auditHmacKey === undefined ? deriveKey(settings.encryptionKey ?? '', 'audit') : Buffer.from(settings.auditHmacKey, 'hex');
  const signer = await createSealSigner(key);
  return { dependencies: { eventStore, chain: createAuditChain({ database }), signer, key, now, newId }, publicKey: signer.publicKey };
}

export type SealerOptions = { readonly audit: Audit; readonly stores: Pick<Stores, 'eventStore' | 'leases'>; readonly logger: Logger; readonly sealSeconds: number };

/** How far the chains may be behind the log, in milliseconds; also the rest after a fault. Verifying catches up by itself. */
const LOOK_MS = 1_000;

/**
 * Keeps the chains up with the log under a lease, and makes a seal whenever one is due (role `scheduler`). The lease only spares the others
 * the work: the chains are safe without it. It looks at intervals instead of following each event, so that a busy log is chained in batches.
 */
export function startSealer({ audit: { dependencies }, stores: { eventStore, leases }, logger, sealSeconds }: SealerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = run(stopping.signal);

  async function run(signal: AbortSignal): Promise<void> {
    while (!isOver(signal)) {
      try {
        const lease = await leases.acquire('audit-sealer', signal);
        try {
          await keepUp(AbortSignal.any([signal, lease.signal]));
        } finally {
          await lease.release();
        }
      } catch (error) {
        if (!isOver(signal)) logger.warn('the audit log is not sealed', { reason: String(error) });
      }
      await rest(signal);
    }
  }

  async function keepUp(signal: AbortSignal): Promise<void> {
    let chained = ORIGIN;
    while (!isOver(signal)) {
      if ((await eventStore.head()) > chained) chained = await chainAudit(dependencies, signal);
      await sealAudit(dependencies, { everySeconds: sealSeconds });
      await rest(signal);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function rest(signal: AbortSignal): Promise<void> {
  await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
}
