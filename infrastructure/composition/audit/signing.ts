import type { AuditDependencies } from '../../../application/platform/audit-dependencies.ts';
import { chainAudit } from '../../../application/platform/chain-audit.ts';
import { signAudit } from '../../../application/platform/sign-audit.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import { ORIGIN } from '../../../domain/event.ts';
import { stoppablePause } from '../../timers/stoppable-pause.ts';
import type { Stores } from '../platform/open-stores.ts';

export type AuditSigningOptions = Pick<Stores, 'eventStore' | 'leases'> & {
  readonly audit: AuditDependencies;
  readonly logger: Logger;
  /** `SVC_AUDIT_SEAL_SECS`: longest time between two audit signatures. */
  readonly signSeconds: number;
};

/**
 * How far the audit chains may be behind the log, in milliseconds; also the pause after an error. Verification first
 * catches up.
 */
const INTERVAL_MS = 1_000;

/**
 * Extends the audit chains to the head of the log under a lease, and makes an audit signature whenever one is due. The
 * chains stay correct without the lease; it only saves other processes the work. It polls instead of following
 * each event, so that a busy log is chained in batches.
 */
export function startAuditSigning({ audit, eventStore, leases, logger, signSeconds }: AuditSigningOptions): {
  stop(): Promise<void>;
} {
  const stopping = new AbortController();
  const running = run(stopping.signal);

  async function run(signal: AbortSignal): Promise<void> {
    while (!isAborted(signal)) {
      try {
        const lease = await leases.acquire('audit-sealer', signal);
        try {
          await signUntilAborted(AbortSignal.any([signal, lease.signal]));
        } finally {
          await lease.release();
        }
      } catch (error) {
        if (!isAborted(signal)) logger.warn('sealing the audit log failed', { reason: reasonOf(error) });
      }
      await stoppablePause(signal)(INTERVAL_MS);
    }
  }

  async function signUntilAborted(signal: AbortSignal): Promise<void> {
    let chained = ORIGIN;
    while (!isAborted(signal)) {
      if ((await eventStore.head()) > chained) ({ position: chained } = await chainAudit({ signal }, audit));
      await signAudit({ everySeconds: signSeconds }, audit);
      await stoppablePause(signal)(INTERVAL_MS);
    }
  }

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
