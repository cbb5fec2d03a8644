import { createHash, createHmac } from 'node:crypto';
import type { GlobalPosition, RecordedEvent } from '../event.ts';
import type { Json } from '../json.ts';

/** One link of a tenant's audit chain; each event of the tenant has one. Binary values are base64url. */
export type AuditLink = {
  readonly tenant: string;
  /** From 1, without gaps. */
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly eventId: string;
  /** SHA-256 of the event, see `eventDigest`. */
  readonly digest: string;
  /** HMAC-SHA256 over the MAC of the previous link and this link. A chain cannot be forged without the key. */
  readonly mac: string;
};

/** The last link of a chain. */
export type ChainHead = {
  readonly tenant: string;
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly mac: string;
};

/** Stands for the previous `mac` at the first link. */
export const CHAIN_START = '';

/**
 * SHA-256 (base64url) over an event's position, stream, revision, id, type, time and the digests of its data and
 * metadata. Sealed values are hashed as stored, so the chain stays valid after a person is erased.
 */
export function eventDigest({
  position,
  stream,
  revision,
  id,
  type,
  recorded_at,
  data,
  metadata,
}: RecordedEvent): string {
  return sha256(
    JSON.stringify([
      position,
      stream,
      revision,
      id,
      type,
      recorded_at,
      sha256(canonicalJson(data)),
      sha256(canonicalJson(metadata)),
    ]),
  );
}

/** The MAC of a link (base64url). `before`: the MAC of the previous link. */
export function linkMac(
  key: Uint8Array,
  before: string,
  { tenant, seq, position, eventId, digest }: Omit<AuditLink, 'mac'>,
): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['link', before, tenant, seq, position, eventId, digest]))
    .digest('base64url');
}

/** The MAC of a chain's end (base64url). It reveals that links were removed from the end. */
export function headMac(key: Uint8Array, { tenant, seq, position, mac }: ChainHead): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['head', tenant, seq, position, mac]))
    .digest('base64url');
}

/**
 * Merkle tree root (RFC 6962, SHA-256) over digests in base64url. With a signed root an auditor can prove that the tree
 * contains an event.
 * @returns base64url; for no digests the hash of the empty string
 */
export function merkleRoot(digests: readonly string[]): string {
  return root(digests.map((digest) => Buffer.from(digest, 'base64url'))).toString('base64url');
}

function root(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves;
  if (!first) return createHash('sha256').digest();
  if (leaves.length === 1) return createHash('sha256').update(LEAF).update(first).digest();
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return createHash('sha256')
    .update(NODE)
    .update(root(leaves.slice(0, split)))
    .update(root(leaves.slice(split)))
    .digest();
}

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/**
 * JSON with the members of objects sorted by name. Event stores return members in different orders; the text is always
 * the same.
 */
function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
