import type { JWK } from 'jose';
import { auditRoutes } from '../../api/admin/platform/audit-routes.ts';
import { openAudit } from './audit/open-audit.ts';
import { startAuditSigning } from './audit/signing.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type AuditModule = Module & {
  /** Verifies the signatures of audit signatures. */
  readonly publicKey: JWK;
};

/** The audit log: its routes and its signatures. */
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
            startAuditSigning({ ...platform, audit: dependencies, signSeconds: platform.settings.auditSealSeconds }),
          ),
      },
    ],
  };
}
