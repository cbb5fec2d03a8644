import type { AuditLink, ChainHead } from '../../domain/platform/audit-chain.ts';
import type { SealedStretch } from '../../domain/platform/audit-events.ts';
import type { GlobalPosition } from '../../domain/event.ts';

/** A tenant's chain as it stands. `headMac` proves its length (`domain/platform/audit-chain.ts`). */
export type StoredHead = ChainHead & {
  readonly headMac: string;
  /** Last link under a seal, 0 before the first. */
  readonly sealedSeq: number;
  /** Links after it that are no seals themselves: what the next seal is for. */
  readonly unsealed: number;
  /** When the last seal was made, or the chain began; RFC 3339. */
  readonly sealedAt: string;
};

/** Working on the chains while no other process does. */
export type ChainSession = {
  /** How far the log is chained. */
  readonly position: GlobalPosition;
  /** Heads of these tenants, where there are any. */
  heads(tenants: readonly string[]): Promise<ReadonlyMap<string, StoredHead>>;
  /** Heads with something to seal. */
  unsealedHeads(): Promise<readonly StoredHead[]>;
  /** A tenant's links, in order, both ends inclusive. */
  stretch(tenant: string, fromSeq: number, toSeq: number): Promise<readonly Pick<AuditLink, 'digest' | 'position' | 'mac'>[]>;
  /** Adds links, moves the heads and how far the log is chained, all at once. */
  add(links: readonly AuditLink[], heads: readonly StoredHead[], position: GlobalPosition): Promise<void>;
  putHead(head: StoredHead): Promise<void>;
};

/** The chains of the audit log, in `operational`: digests and MACs, nothing of the events themselves (spec 5, rule 12). */
export type AuditChain = {
  /** Runs work in one transaction that excludes other processes; waits for its turn. */
  exclusively<T>(work: (session: ChainSession) => Promise<T>): Promise<T>;
  tenants(): Promise<readonly string[]>;
  head(tenant: string): Promise<StoredHead | undefined>;
  link(tenant: string, seq: number): Promise<AuditLink | undefined>;
  /** Links after `seq`, in order. */
  links(tenant: string, afterSeq: number, limit: number): Promise<readonly AuditLink[]>;
};

/** Signs what a seal says; EdDSA. */
export type SealSigner = {
  sign(stretch: SealedStretch, at: Date): Promise<string>;
  /** @returns undefined for a signature that is not ours. */
  verify(jws: string): Promise<SealedStretch | undefined>;
};
