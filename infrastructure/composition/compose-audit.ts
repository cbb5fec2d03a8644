import type { JWK } from 'jose';
import { auditRoutes } from '../../api/admin/platform/audit-routes.ts';
import { startAuditSigning } from '../../application/platform/audit-signing.ts';
import { type ChainFault, stoppedChains } from '../../application/platform/stopped-chains.ts';
import { startFollower } from '../../projections/engine/follower.ts';
import { appendAnchors } from './audit/anchor-file.ts';
import { createAudit } from './audit/create-audit.ts';
import { EMPTY_MODULE, type Module, type Worker } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type AuditModule = Module & {
  /** Public key that verifies audit signatures. */
  readonly publicKey: JWK;
  /** What is wrong with the audit chains, for the readiness probe. */
  readonly chainFaults: () => Promise<readonly ChainFault[]>;
};

/** The audit log: its routes and its signatures. */
export async function composeAudit(platform: Platform): Promise<AuditModule> {
  const { dependencies, publicKey } = await createAudit(platform);
  return {
    ...EMPTY_MODULE,
    publicKey,
    chainFaults: () => stoppedChains({}, dependencies),
    routes: auditRoutes(dependencies),
    workers: [
      {
        name: 'audit signing',
        role: 'scheduler',
        start: () =>
          Promise.resolve(
            startAuditSigning({
              ...platform,
              signEverySeconds: platform.settings.auditSignSeconds,
              audit: dependencies,
            }),
          ),
      },
      ...anchorWorkers(platform),
    ],
  };
}

/** Copies audit signatures to the file of `SVC_AUDIT_ANCHOR_FILE`, in the order of the log. */
function anchorWorkers({ settings, eventStore, leases, database, logger, metrics }: Platform): readonly Worker[] {
  const path = settings.auditAnchorFile;
  if (path === undefined) return [];
  return [
    {
      name: 'audit anchors',
      role: 'scheduler',
      start: () =>
        Promise.resolve(
          startFollower({
            name: 'audit-anchors',
            eventStore,
            filter: { categories: ['audit'] },
            leases,
            database,
            handler: { kind: 'before', handle: (events) => appendAnchors(events, { path }) },
            logger,
            metrics,
          }),
        ),
    },
  ];
}
