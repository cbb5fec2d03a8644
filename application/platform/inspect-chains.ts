import { ALL_CHAINS, type ChainState, replaceInSum } from '../../domain/platform/audit-chain.ts';
import type { ChainSession, FoundHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';
import { faultOfLastSignature, readLastSignature } from './last-signature.ts';
import { faultOfHead } from './load-chains.ts';

type InspectDependencies = Pick<AuditDependencies, 'key' | 'eventStore' | 'signer'>;
type Inspected = {
  /** The state with the chains that are stopped now. */
  readonly state: ChainState;
  /** Heads of chains that were stopped and are as this service wrote them again. */
  readonly resumed: readonly FoundHead[];
};

/** Whether the heads are exactly those that this service wrote last. */
export function headsMatch(
  { heads, state }: { readonly heads: readonly FoundHead[]; readonly state: ChainState },
  { key }: { readonly key: Uint8Array },
): boolean {
  return (
    heads.length === state.chains && replaceInSum(key, EMPTY_SUM, { removed: [], added: heads }) === state.headsSum
  );
}

const EMPTY_SUM = '0'.repeat(64);

/**
 * Checks the heads of all chains, against their MACs and against their sum, and decides which chains are stopped. A
 * head that was replaced by an earlier genuine one changes the sum; the signatures in the log then tell which chain it
 * is. If they do not, `ALL_CHAINS` is recorded: no chain verifies any more, but all are extended.
 */
export async function inspectChains(
  { session, state }: { readonly session: ChainSession; readonly state: ChainState },
  dependencies: InspectDependencies,
): Promise<Inspected> {
  const heads = await session.allHeads();
  const match = headsMatch({ heads, state }, dependencies);
  const { [ALL_CHAINS]: unknown, ...before } = state.stopped;
  const stopped = new Map(Object.entries(before));
  const resumed: FoundHead[] = [];
  for (const head of heads) {
    const fault = faultOfHead({ head }, dependencies);
    if (fault !== undefined) {
      if (!stopped.has(head.tenant)) stopped.set(head.tenant, fault);
    } else if (match && Object.hasOwn(before, head.tenant)) {
      if ((await faultBySignature({ tenant: head.tenant, head, state, session }, dependencies)) !== undefined) continue;
      stopped.delete(head.tenant);
      resumed.push(head);
    }
  }
  if (!match && stopped.size === 0) {
    const found = unknown === undefined ? await suspects({ session, state, heads }, dependencies) : {};
    for (const [tenant, fault] of Object.entries(found)) stopped.set(tenant, fault);
    if (Object.keys(found).length === 0) stopped.set(ALL_CHAINS, 'heads were removed or replaced by earlier ones');
  }
  return { state: { ...state, stopped: Object.fromEntries(stopped) }, resumed };
}

/** The chains that contradict a signature in the log, with the reason. Reads all signatures. */
async function suspects(
  {
    session,
    state,
    heads,
  }: { readonly session: ChainSession; readonly state: ChainState; readonly heads: readonly FoundHead[] },
  dependencies: InspectDependencies,
): Promise<Readonly<Record<string, string>>> {
  const tenants = new Set(heads.map(({ tenant }) => tenant));
  for await (const { metadata } of dependencies.eventStore.readAll({ filter: { categories: ['audit'] } }))
    tenants.add(metadata.tenant);
  const byTenant = new Map(heads.map((head) => [head.tenant, head]));
  const found: Record<string, string> = {};
  for (const tenant of tenants) {
    const fault = await faultBySignature({ tenant, head: byTenant.get(tenant), state, session }, dependencies);
    if (fault !== undefined) found[tenant] = fault;
  }
  return found;
}

async function faultBySignature(
  input: {
    readonly tenant: string;
    readonly head: FoundHead | undefined;
    readonly state: ChainState;
    readonly session: ChainSession;
  },
  dependencies: InspectDependencies,
): Promise<string | undefined> {
  return faultOfLastSignature({ ...input, last: await readLastSignature(input, dependencies) });
}
