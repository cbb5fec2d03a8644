import { compareAnchors, readAnchors } from '../../../application/platform/compare-anchors.ts';
import { type AuditVerdict, verifyAudit } from '../../../application/platform/verify-audit.ts';
import type { AuditedLog } from './audited-log.ts';

/** The tenants whose events a round writes. */
export const TENANTS = ['acme', 'beta'] as const;

/** Writes and signs a round of events of two tenants. @returns the ids of acme's events, oldest first */
export async function writeRound(log: AuditedLog): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const n of [1, 2, 3]) {
    ids.push(await log.append('acme', { title: `acme ${String(n)}` }));
    await log.append('beta', { title: `beta ${String(n)}` });
  }
  await log.sign();
  return ids;
}

/** Compares acme's chain with anchors. */
export async function compareAcmeWithAnchors(log: AuditedLog, anchors: readonly string[]) {
  const { byTenant, invalid } = await readAnchors({ anchors }, log.audit());
  return {
    ...(await compareAnchors({ tenant: 'acme', ranges: byTenant.get('acme') ?? [] }, log.audit())),
    invalid,
  };
}

/** Verifies the chain of a tenant. */
export const verifyChain = (log: AuditedLog, tenant = 'acme'): Promise<AuditVerdict> =>
  verifyAudit({ tenant }, log.audit());
