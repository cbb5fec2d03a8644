import { ALL_CHAINS, stateMac } from '../../domain/platform/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/** What is wrong with the audit chains, without names of tenants; empty when nothing is known to be wrong. */
export async function stoppedChains(
  _input: Readonly<Record<string, never>>,
  { chain, key }: Pick<AuditDependencies, 'chain' | 'key'>,
): Promise<readonly string[]> {
  const stored = await chain.stored();
  if (stored.kind === 'earlier') return [];
  if (stored.kind === 'none') return (await chain.tenants()).length > 0 ? ['audit chains stopped: no state'] : [];
  if (stateMac(key, stored.state) !== stored.mac) return ['audit chains stopped: wrong MAC of their state'];
  const { [ALL_CHAINS]: unknown, ...tenants } = stored.state.stopped;
  const count = Object.keys(tenants).length;
  return [
    ...(count > 0 ? [`audit chains stopped: ${String(count)}`] : []),
    ...(unknown === undefined ? [] : [`audit chains: ${unknown}`]),
  ];
}
