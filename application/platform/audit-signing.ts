import { ORIGIN } from '../../domain/event.ts';
import { ALL_CHAINS } from '../../domain/platform/audit-chain.ts';
import { stoppablePause } from '../concurrency/stoppable-pause.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Leases } from '../ports/leases.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import { type StoppedChain, chainAudit } from './chain-audit.ts';
import { ChainsStopped } from './load-chains.ts';
import { signAudit } from './sign-audit.ts';

export type AuditSigningOptions = {
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly leases: Pick<Leases, 'acquire'>;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly metrics: Pick<Metrics, 'auditChainsStopped'>;
  /** Seconds between two audit signatures of a tenant. */
  readonly signEverySeconds: number;
  readonly audit: Parameters<typeof chainAudit>[1] & Parameters<typeof signAudit>[1];
};

export type AuditSigning = {
  /** Resolves when the current step is done. */
  stop(): Promise<void>;
};

/**
 * How far the audit chains may be behind the log, in milliseconds; also the pause after an error. Verification first
 * catches up.
 */
const INTERVAL_MS = 1_000;
/** How often the heads of all chains are checked, also of those without new events, in milliseconds. */
const INSPECT_MS = 10_000;

/**
 * Extends the audit chains to the head of the log under a lease, and makes an audit signature whenever one is due. The
 * chains stay correct without the lease; it only saves other processes the work. It polls instead of following
 * each event, so that a busy log is chained in batches.
 */
export function startAuditSigning({
  eventStore,
  leases,
  logger,
  metrics,
  signEverySeconds,
  audit,
}: AuditSigningOptions): AuditSigning {
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
        if (!isAborted(signal)) logger.warn('the audit log could not be signed', { reason: reasonOf(error) });
      }
      await stoppablePause(signal)(INTERVAL_MS);
    }
  }

  async function signUntilAborted(signal: AbortSignal): Promise<void> {
    let chained = ORIGIN;
    let inspectAt = 0;
    while (!isAborted(signal)) {
      const inspect = performance.now() >= inspectAt;
      try {
        if (inspect || (await eventStore.head()) > chained) {
          const { position, stopped } = await chainAudit({ signal, inspect }, audit);
          chained = position;
          report(stopped);
        }
        await signAudit({ everySeconds: signEverySeconds }, audit);
        if (inspect) inspectAt = performance.now() + INSPECT_MS;
      } catch (error) {
        if (!(error instanceof ChainsStopped)) throw error;
        report([{ tenant: ALL_CHAINS, reason: error.message }]);
      }
      await stoppablePause(signal)(INTERVAL_MS);
    }
    // Another process reports them from now on.
    metrics.auditChainsStopped?.(0);
  }

  let reported = new Map<string, string>();
  /** Sets the metric, and logs each chain that is stopped or resumed once. */
  function report(stopped: readonly StoppedChain[]): void {
    const now = new Map(stopped.map(({ tenant, reason }) => [tenant, reason]));
    for (const [tenant, reason] of now)
      if (reported.get(tenant) !== reason) logger.error('an audit chain was stopped', { tenant, reason });
    for (const tenant of reported.keys()) if (!now.has(tenant)) logger.info('an audit chain was resumed', { tenant });
    metrics.auditChainsStopped?.(now.size);
    reported = now;
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
