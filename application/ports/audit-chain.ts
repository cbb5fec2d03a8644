import type { GlobalPosition } from '../../domain/event.ts';
import type { AuditLink, ChainHead } from '../../domain/platform/audit-chain.ts';
import type { SignedRange } from '../../domain/platform/audit-events.ts';

/** The head of a tenant's audit chain. `headMac` authenticates its length (`domain/platform/audit-chain.ts`). */
export type StoredHead = ChainHead & {
  readonly headMac: string;
  /** Sequence number of the last link covered by an audit signature; 0 before the first signature. */
  readonly signedSeq: number;
  /** Number of later links that are not audit signatures; the next audit signature covers them. */
  readonly unsigned: number;
  /** Time of the last audit signature, or of the start of the chain; RFC 3339. */
  readonly signedAt: string;
};

/** Access to the chains while no other process has it. */
export type ChainSession = {
  /** Position of the last event that is in a chain. */
  readonly position: GlobalPosition;
  /** The heads of the tenants that have a chain. */
  heads(tenants: readonly string[]): Promise<ReadonlyMap<string, StoredHead>>;
  /** The heads of chains with unsigned links. */
  unsignedHeads(): Promise<readonly StoredHead[]>;
  /** The links of a tenant from `fromSeq` to `toSeq`, both inclusive, in order. */
  linksBetween(
    tenant: string,
    fromSeq: number,
    toSeq: number,
  ): Promise<readonly Pick<AuditLink, 'digest' | 'position' | 'mac'>[]>;
  /** Adds links, replaces heads and sets the position, in one transaction. */
  add(links: readonly AuditLink[], heads: readonly StoredHead[], position: GlobalPosition): Promise<void>;
  putHead(head: StoredHead): Promise<void>;
};

/** The audit chains, in the schema `operational`: digests and MACs only, no data of the events. */
export type AuditChain = {
  /** Runs work in one transaction while no other process has a session. Waits until that is so. */
  exclusively<T>(work: (session: ChainSession) => Promise<T>): Promise<T>;
  tenants(): Promise<readonly string[]>;
  head(tenant: string): Promise<StoredHead | undefined>;
  link(tenant: string, seq: number): Promise<AuditLink | undefined>;
  /** At most `limit` links after `afterSeq`, in order. */
  links(tenant: string, afterSeq: number, limit: number): Promise<readonly AuditLink[]>;
};

/** Signs audit signatures with EdDSA. */
export type AuditSigner = {
  sign(range: SignedRange, at: Date): Promise<string>;
  /** @returns the signed content; undefined when the signature is not from this install */
  verify(jws: string): Promise<SignedRange | undefined>;
};
