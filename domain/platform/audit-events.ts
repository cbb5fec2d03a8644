import type { DomainEvent, GlobalPosition } from '../event.ts';

/** What a seal says of a stretch of a tenant's chain: both ends are inclusive. */
export type SealedStretch = {
  readonly tenant: string;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly from_position: GlobalPosition;
  readonly to_position: GlobalPosition;
  /** MAC of the last link, base64url. */
  readonly head_mac: string;
  /** Root of the tree over the digests of the stretch, base64url (RFC 6962). */
  readonly merkle_root: string;
};

/**
 * Events of stream `audit-<tenant>.seals`. `jws` is the stretch, signed (compact JWS, EdDSA): kept or published elsewhere, it proves to anyone
 * with the public key what stood in the log.
 */
export type AuditEvent = DomainEvent<'AuditSealed', SealedStretch & { readonly jws: string }>;
