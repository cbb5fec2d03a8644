import type { JWK } from 'jose';
import { auditRoutes } from '../../api/admin/platform/audit-routes.ts';
import { openAudit } from './audit/open-audit.ts';
import { startSealer } from './audit/sealer.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type AuditModule = Module & {
  /** Verifies the signatures of audit seals. */
  readonly publicKey: JWK;
};

/** The audit log: its routes and the sealer. */
export async function composeAudit(platform: Platform): Promise<AuditModule> {
  const { dependencies, publicKey } = await openAudit(platform);
  return {
    ...EMPTY_MODULE,
    publicKey,
    routes: auditRoutes(dependencies),
    workers: [
      {
        name: 'audit sealer',
        role: 'scheduler',
        start: () =>
          Promise.resolve(
            startSealer({ ...platform, audit: dependencies, sealSeconds: platform.settings.auditSealSeconds }),
          ),
      },
    ],
  };
}
