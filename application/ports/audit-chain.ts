import type { GlobalPosition } from '../../domain/event.ts';
import type { AuditLink, ChainHead, ChainState } from '../../domain/platform/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';

/** A head as it is stored. `headMac` authenticates it (`domain/platform/audit-chain.ts`). */
export type StoredHead = ChainHead & { readonly headMac: string };

/** A stored head with what the links say about it. */
export type FoundHead = StoredHead & {
  /** MAC of the link `seq`; undefined when it does not exist. */
  readonly lastLinkMac: string | undefined;
  /** Whether a link after `seq` exists. */
  readonly linksBeyond: boolean;
};

/**
 * The state of the chains as it is stored. `earlier`: an earlier build wrote the chains, and its position has no MAC.
 * `none`: there is no state and no position.
 */
export type StoredState =
  | { readonly kind: 'stored'; readonly state: ChainState; readonly mac: string }
  | { readonly kind: 'earlier'; readonly position: GlobalPosition }
  | { readonly kind: 'none' };

/** Access to the chains while no other process has it. */
export type ChainSession = {
  readonly stored: StoredState;
  /** The heads of the tenants that have a chain. */
  heads(tenants: readonly string[]): Promise<ReadonlyMap<string, FoundHead>>;
  /** The heads of all chains. */
  allHeads(): Promise<readonly FoundHead[]>;
  /** The heads of chains with unsigned links. */
  unsignedHeads(): Promise<readonly FoundHead[]>;
  /** Number of all links. */
  countLinks(): Promise<number>;
  linksBetween: AuditChain['linksBetween'];
  addLinks(links: readonly AuditLink[]): Promise<void>;
  putHeads(heads: readonly StoredHead[]): Promise<void>;
  /** Replaces the state. Builds from before the state had a MAC cannot extend the chains any more. */
  putState(state: ChainState, mac: string): Promise<void>;
  /** Removes all links, all heads and the state. */
  clear(): Promise<void>;
};

/** The audit chains, in the schema `operational`: digests and MACs only, no data of the events. */
export type AuditChain = {
  /** Runs work in one transaction while no other process has a session. Waits until that is so. */
  exclusively<T>(work: (session: ChainSession) => Promise<T>): Promise<T>;
  /** Resolves when everything that was committed survives a crash of the server. */
  flush(): Promise<void>;
  /** The state, outside a session. */
  stored(): Promise<StoredState>;
  tenants(): Promise<readonly string[]>;
  /** The first position up to `until` that no link has; undefined when all have one. Reads all links. */
  firstGap(until: GlobalPosition): Promise<GlobalPosition | undefined>;
  head(tenant: string): Promise<FoundHead | undefined>;
  allHeads(): Promise<readonly FoundHead[]>;
  /** The links of a tenant from `fromSeq` to `toSeq`, both inclusive, in order. */
  linksBetween(tenant: string, fromSeq: number, toSeq: number): Promise<readonly AuditLink[]>;
  link(tenant: string, seq: number): Promise<AuditLink | undefined>;
  /** At most `limit` links after `afterSeq`, in order. */
  links(tenant: string, afterSeq: number, limit: number): Promise<readonly AuditLink[]>;
};

/** Signs audit signatures with EdDSA. */
export type AuditSigner = {
  sign(range: SignedRange, at: Date): Promise<string>;
  /** @returns the signed content; undefined when the signature is not from this installation */
  verify(jws: string): Promise<SignedRange | undefined>;
};
