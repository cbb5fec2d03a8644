import { createHash, createHmac } from 'node:crypto';
import { type GlobalPosition, ORIGIN, type RecordedEvent } from '../event.ts';
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

/** The last link of a chain, and which part of the chain is signed. */
export type ChainHead = {
  readonly tenant: string;
  readonly seq: number;
  readonly position: GlobalPosition;
  readonly mac: string;
  /** Sequence number of the last link covered by an audit signature; 0 before the first signature. */
  readonly signedSeq: number;
  /** Number of later links that are not audit signatures; the next audit signature covers them. */
  readonly unsigned: number;
  /** Time of the last audit signature, or of the start of the chain; RFC 3339, milliseconds. */
  readonly signedAt: string;
};

/** What all chains of an installation have in common. */
export type ChainState = {
  /** Position of the last event of the log that was chained, or passed over because its chain is stopped. */
  readonly position: GlobalPosition;
  /** Number of these events. Equal to `position` in a store whose positions have no gaps. */
  readonly events: number;
  /** Number of heads. */
  readonly chains: number;
  /** Sum of the terms of all heads (`headTerm`), modulo 2^256; 64 hex digits. */
  readonly headsSum: string;
  /**
   * How often the chains were started again on purpose (`palimpsest verify-audit --restart`). Signatures of earlier
   * generations are not compared with the links.
   */
  readonly generation: number;
  /**
   * Reasons by tenant for which a chain is not extended. The key `ALL_CHAINS`: it is not known which chain was changed;
   * chains are extended, but none verifies.
   */
  readonly stopped: Readonly<Record<string, string>>;
};

/** Stands for the tenant in `ChainState.stopped` when it is not known. No tenant has this name. */
export const ALL_CHAINS = '*';

/** The state before the first event. */
export const EMPTY_CHAINS: ChainState = {
  position: ORIGIN,
  events: 0,
  chains: 0,
  headsSum: '0'.repeat(64),
  generation: 0,
  stopped: {},
};

/** Stands for the previous `mac` at the first link of a chain. */
export function chainStart(generation: number): string {
  return generation === 0 ? '' : `generation ${String(generation)}`;
}

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
  return macOf(key, ['link', before, tenant, seq, position, eventId, digest]);
}

/**
 * The MAC of a head (base64url). It reveals that links were removed from the end, and that the head was changed without
 * the key.
 */
export function headMac(key: Uint8Array, head: ChainHead): string {
  return macOf(key, ['head 2', ...fieldsOf(head)]);
}

/** The MAC of a head as builds before the MAC of the state wrote it. Only `adoptChains` accepts it. */
export function earlierHeadMac(key: Uint8Array, { tenant, seq, position, mac }: ChainHead): string {
  return macOf(key, ['head', tenant, seq, position, mac]);
}

/** The MAC of the state (base64url). It reveals that the state was changed without the key. */
export function stateMac(key: Uint8Array, state: ChainState): string {
  const { position, events, chains, headsSum, generation, stopped } = state;
  const reasons = Object.entries(stopped).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return macOf(key, ['state', position, events, chains, headsSum, generation, reasons]);
}

/**
 * Replaces heads in the sum of all heads. The sum is kept under the MAC of the state, so that a head that was replaced
 * by an earlier one, whose own MAC is genuine, is found. It needs only the heads that change.
 */
export function replaceInSum(
  key: Uint8Array,
  sum: string,
  { removed, added }: { readonly removed: readonly ChainHead[]; readonly added: readonly ChainHead[] },
): string {
  let total = BigInt(`0x${sum}`);
  for (const head of added) total += headTerm(key, head);
  for (const head of removed) total -= headTerm(key, head);
  return (((total % MODULUS) + MODULUS) % MODULUS).toString(16).padStart(64, '0');
}

const MODULUS = 1n << 256n;

function headTerm(key: Uint8Array, head: ChainHead): bigint {
  return BigInt(
    `0x${createHmac('sha256', key)
      .update(JSON.stringify(['term', ...fieldsOf(head)]))
      .digest('hex')}`,
  );
}

function fieldsOf({ tenant, seq, position, mac, signedSeq, unsigned, signedAt }: ChainHead): readonly Json[] {
  return [tenant, seq, position, mac, signedSeq, unsigned, signedAt];
}

function macOf(key: Uint8Array, content: Json): string {
  return createHmac('sha256', key).update(JSON.stringify(content)).digest('base64url');
}

/** SHA-256 (base64url) of a signature. The next signature names it. */
export function signatureDigest(jws: string): string {
  return sha256(jws);
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
