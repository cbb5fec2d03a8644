import { EMPTY_CHAINS, stateMac } from '../../domain/platform/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/**
 * Removes all audit chains, so that they start again at the beginning of the log as a new generation. For a log that
 * was copied to another store, whose positions differ. Only a holder of the key can do this.
 * @returns the number of the new generation
 */
export async function restartChains(
  _input: Readonly<Record<string, never>>,
  { chain, key }: Pick<AuditDependencies, 'chain' | 'key'>,
): Promise<number> {
  return chain.exclusively(async (session) => {
    const { stored } = session;
    const generation = (stored.kind === 'stored' ? stored.state.generation : 0) + 1;
    const state = { ...EMPTY_CHAINS, generation };
    await session.clear();
    await session.putState(state, stateMac(key, state));
    return generation;
  });
}
