import type { DomainEvent, GlobalPosition } from '../event.ts';

/** The part of a tenant's audit chain that one audit signature covers. Both ends are inclusive. */
export type SignedRange = {
  readonly tenant: string;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly from_position: GlobalPosition;
  readonly to_position: GlobalPosition;
  /** MAC of the last link, base64url. */
  readonly head_mac: string;
  /** Merkle tree root (RFC 6962) over the digests of the links, base64url. */
  readonly merkle_root: string;
  /** Number of the signature in its chain, from 1. Absent in signatures of earlier builds, as are the next two. */
  readonly number?: number;
  /** SHA-256 (base64url) of the `jws` before; empty for the first. */
  readonly previous?: string;
  /** `ChainState.generation`. */
  readonly generation?: number;
};

/**
 * Event of stream `audit-<tenant>.seals`. `jws` is the range as a signed compact JWS (EdDSA). A copy that is stored
 * elsewhere proves to anyone with the public key what the log contained.
 */
export type AuditEvent = DomainEvent<'AuditSealed', SignedRange & { readonly jws: string }>;
