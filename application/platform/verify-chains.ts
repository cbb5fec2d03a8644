import type { AuditDependencies } from './audit-dependencies.ts';
import { chainAudit } from './chain-audit.ts';
import { type AnchorVerdict, compareAnchors, readAnchors } from './compare-anchors.ts';
import { ChainsStopped } from './load-chains.ts';
import { type AuditVerdict, verifyAudit } from './verify-audit.ts';

/** `anchors`: the comparison with copies of signatures; absent without such copies. */
export type TenantVerdict = AuditVerdict & {
  readonly tenant: string;
  readonly anchors?: AnchorVerdict & { readonly invalid: number; readonly unreadable: number };
};

export type VerifyChainsInput = {
  /** Default: every tenant that has a chain or an anchor. */
  readonly tenant?: string | undefined;
  /** Copies of audit signatures, which are compared before anything is signed. `unreadable`: lines without one. */
  readonly anchors?: { readonly anchors: readonly string[]; readonly unreadable: number } | undefined;
  readonly onProgress?:
    ((progress: { readonly tenant: string; readonly checked: number; readonly total: number }) => void) | undefined;
};

/** Verifies the log of one tenant, or of each, against its audit chain and against copies of signatures. */
export async function verifyChains(
  { tenant, anchors: file, onProgress }: VerifyChainsInput,
  dependencies: AuditDependencies,
): Promise<readonly TenantVerdict[]> {
  const anchorFile = file && { ...file, ...(await readAnchors(file, dependencies)) };
  const compared = new Map<string, AnchorVerdict>();
  const tenants = async (): Promise<readonly string[]> =>
    tenant === undefined
      ? [...new Set([...(await dependencies.chain.tenants()), ...(anchorFile?.byTenant.keys() ?? [])])]
      : [tenant];
  for (const name of anchorFile ? await tenants() : [])
    compared.set(
      name,
      await compareAnchors({ tenant: name, ranges: anchorFile?.byTenant.get(name) ?? [] }, dependencies),
    );
  await chainAudit({}, dependencies).catch((error: unknown) => {
    if (!(error instanceof ChainsStopped)) throw error;
  });
  const verdicts: TenantVerdict[] = [];
  for (const name of await tenants()) {
    const verdict = await verifyAudit(
      {
        tenant: name,
        onProgress: (checked, total) => onProgress?.({ tenant: name, checked, total }),
      },
      dependencies,
    );
    const anchors = compared.get(name);
    verdicts.push({
      tenant: name,
      ...verdict,
      ...(anchorFile &&
        anchors && {
          ok: verdict.ok && anchors.ok && anchorFile.invalid === 0,
          anchors: { ...anchors, invalid: anchorFile.invalid, unreadable: anchorFile.unreadable },
        }),
    });
  }
  return verdicts;
}
