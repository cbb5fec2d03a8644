import type { AuditChain, AuditSigner } from '../ports/audit-chain.ts';
import type { EventStore } from '../ports/event-store.ts';

/** Ports of the audit chain's use cases; each use case picks what it needs. */
export type AuditDependencies = {
  readonly eventStore: EventStore;
  readonly chain: AuditChain;
  readonly signer: AuditSigner;
  /** Key of the chain's HMACs, setting `SVC_AUDIT_HMAC_KEY`. */
  readonly key: Uint8Array;
  readonly now: () => Date;
  readonly newId: () => string;
};
