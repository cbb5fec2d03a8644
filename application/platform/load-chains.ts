import { ORIGIN } from '../../domain/event.ts';
import {
  type ChainState,
  EMPTY_CHAINS,
  earlierHeadMac,
  headMac,
  replaceInSum,
  stateMac,
} from '../../domain/platform/audit-chain.ts';
import type { ChainSession, FoundHead } from '../ports/audit-chain.ts';
import type { AuditDependencies } from './audit-dependencies.ts';

/** No chain can be extended, because their common state is not what this service wrote. */
export class ChainsStopped extends Error {
  override readonly name = 'ChainsStopped';
}

/**
 * Returns the checked state of the chains. Chains of an earlier build, which had no MAC over their state, are adopted
 * once: each head is checked under its old MAC and gets the new one.
 * @throws ChainsStopped when the state was changed without the key, or is missing while links exist
 */
export async function loadChains(
  { session }: { readonly session: ChainSession },
  { key }: Pick<AuditDependencies, 'key'>,
): Promise<ChainState> {
  const { stored } = session;
  if (stored.kind === 'stored') {
    if (stateMac(key, stored.state) !== stored.mac) throw new ChainsStopped('the MAC of the state is wrong');
    return stored.state;
  }
  const heads = await session.allHeads();
  const last = heads.reduce((max, { position }) => (position > max ? position : max), ORIGIN);
  if (heads.length === 0) {
    if ((await session.countLinks()) > 0) throw new ChainsStopped('links exist, but no heads');
    if (stored.kind === 'earlier' && stored.position !== ORIGIN)
      throw new ChainsStopped('the log was chained, but there are no heads');
    return EMPTY_CHAINS;
  }
  // Every event belongs to a tenant, so the last chained event is at the end of a chain.
  if (stored.kind === 'none' || stored.position !== last)
    throw new ChainsStopped('the position of the chained log does not match the heads');
  return adoptChains({ session, heads, state: { ...EMPTY_CHAINS, position: stored.position } }, { key });
}

/**
 * Why a head cannot be extended; undefined when it can. A head that was replaced by an earlier genuine one, without its
 * later links, is not found here; see `inspectChains`.
 */
export function faultOfHead({ head }: { readonly head: FoundHead }, { key }: { readonly key: Uint8Array }) {
  if (head.headMac !== headMac(key, head)) return 'the MAC of its head is wrong';
  return faultOfLinks(head);
}

function faultOfLinks({ lastLinkMac, mac, linksBeyond }: FoundHead): string | undefined {
  if (lastLinkMac !== mac) return 'its last link is missing or changed';
  if (linksBeyond) return 'it has links after its head';
  return undefined;
}

async function adoptChains(
  {
    session,
    heads,
    state,
  }: { readonly session: ChainSession; readonly heads: readonly FoundHead[]; readonly state: ChainState },
  { key }: { readonly key: Uint8Array },
): Promise<ChainState> {
  const stopped: Record<string, string> = {};
  for (const head of heads) {
    const fault = head.headMac === earlierHeadMac(key, head) ? faultOfLinks(head) : 'the MAC of its head is wrong';
    if (fault !== undefined) stopped[head.tenant] = fault;
  }
  const adopted = heads.filter(({ tenant }) => !Object.hasOwn(stopped, tenant));
  await session.putHeads(adopted.map((head) => ({ ...head, headMac: headMac(key, head) })));
  return {
    ...state,
    events: heads.reduce((sum, { seq }) => sum + seq, 0),
    chains: heads.length,
    headsSum: replaceInSum(key, state.headsSum, { removed: [], added: heads }),
    stopped,
  };
}
