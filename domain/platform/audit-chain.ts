import { createHash, createHmac } from 'node:crypto';
import type { GlobalPosition, RecordedEvent } from '../event.ts';
import type { Json } from '../json.ts';

/** One event's place in a tenant's chain (spec 5, rule 12). Binary values are base64url. */
export type AuditLink = {
  readonly tenant: string;
  /** From 1, without gaps. */
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly eventId: string;
  /** SHA-256 over what the event is, `eventDigest`. */
  readonly digest: string;
  /** HMAC-SHA256 over the link before and the digest: whoever lacks the key can't make another chain. */
  readonly mac: string;
};

/** Where a chain ends. */
export type ChainHead = { readonly tenant: string; readonly seq: number; readonly position: GlobalPosition; readonly mac: string };

/** `mac` before the first link. */
export const CHAIN_START = '';

/**
 * SHA-256 (base64url) over an event's position, stream, revision, id, type, time and the digests of its data and metadata. Sealed values count
 * as they are stored, so that erasing a person leaves the chain whole.
 */
export function eventDigest({ position, stream, revision, id, type, recorded_at, data, metadata }: RecordedEvent): string {
  return sha256(JSON.stringify([position, stream, revision, id, type, recorded_at, sha256(canonicalJson(data)), sha256(canonicalJson(metadata))]));
}

/** The MAC of the link after one with `before`. */
export function linkMac(key: Uint8Array, before: string, { tenant, seq, position, eventId, digest }: Omit<AuditLink, 'mac'>): string {
  return createHmac('sha256', key).update(JSON.stringify(['link', before, tenant, seq, position, eventId, digest])).digest('base64url');
}

/** The MAC that says how far a chain goes, so that its end can't be cut off unseen. */
export function headMac(key: Uint8Array, { tenant, seq, position, mac }: ChainHead): string {
  return createHmac('sha256', key).update(JSON.stringify(['head', tenant, seq, position, mac])).digest('base64url');
}

/**
 * Merkle tree root (RFC 6962, SHA-256) over digests in base64url: whoever holds a signed root can prove that an event is under it.
 * Base64url; the root of nothing is the hash of nothing.
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
  return createHash('sha256').update(NODE).update(root(leaves.slice(0, split))).update(root(leaves.slice(split))).digest();
}

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** JSON with the members of objects in the order of their names: the same text whatever the store's order. */
function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
