import { ALL_CHAINS, stateMac } from '../../domain/platform/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/** Something that is wrong with the audit chains, without names of tenants. */
export type ChainFault =
  /** Chains of this number of tenants are stopped. */
  | { readonly code: 'audit_chains_stopped'; readonly chains: number }
  /** No chain verifies. With the details `no state` and `wrong MAC` no chain is extended either. */
  | { readonly code: 'audit_state_invalid'; readonly detail: string };

/** What is wrong with the audit chains; empty when nothing is known to be wrong. */
export async function stoppedChains(
  _input: Readonly<Record<string, never>>,
  { chain, key }: Pick<AuditDependencies, 'chain' | 'key'>,
): Promise<readonly ChainFault[]> {
  const stored = await chain.stored();
  if (stored.kind === 'earlier') return [];
  if (stored.kind === 'none')
    return (await chain.tenants()).length > 0 ? [{ code: 'audit_state_invalid', detail: 'no state' }] : [];
  if (stateMac(key, stored.state) !== stored.mac) return [{ code: 'audit_state_invalid', detail: 'wrong MAC' }];
  const { [ALL_CHAINS]: unknown, ...tenants } = stored.state.stopped;
  const chains = Object.keys(tenants).length;
  return [
    ...(chains > 0 ? [{ code: 'audit_chains_stopped', chains } as const] : []),
    ...(unknown === undefined ? [] : [{ code: 'audit_state_invalid', detail: unknown } as const]),
  ];
}
