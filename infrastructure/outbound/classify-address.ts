import ipaddr from 'ipaddr.js';

/** Class of an address, for the protection of internal networks. Only `public` addresses are allowed by default. */
export type AddressClass = 'public' | 'loopback' | 'private' | 'linkLocal' | 'metadata' | 'reserved';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses of cloud metadata services, which return credentials. Some of them are in public ranges. */
const METADATA = new Set(
  [
    '169.254.169.254', // AWS, GCP, Azure, DigitalOcean
    '169.254.170.2', // ECS
    '169.254.170.23', // EKS
    '100.100.100.200', // Alibaba
    '192.0.0.192', // Oracle
    '168.63.129.16', // Azure WireServer, public unicast
    'fd00:ec2::254', // AWS
    'fd00:ec2::23', // EKS
    'fd20:ce::254', // GCP
  ].map((text) => ipaddr.parse(text).toString()),
);

const CLASS_OF_RANGE: Readonly<Record<string, AddressClass>> = {
  unicast: 'public',
  loopback: 'loopback',
  unspecified: 'loopback',
  private: 'private',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
  deprecatedSiteLocal: 'private',
  linkLocal: 'linkLocal',
};

/**
 * Parses an address from a resolver, a socket or a URL. An IPv4 address inside `::ffff:0:0/96` becomes an IPv4 address.
 * @returns undefined for any other text, including addresses with a zone id
 */
export function parseIpAddress(text: string): Address | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare.includes('%') || !isPlain(bare)) return undefined;
  return ipaddr.process(bare);
}

/** Classifies an address. For an IPv6 address with an embedded IPv4 address the IPv4 address counts. */
export function classifyAddress(address: Address): AddressClass {
  if (METADATA.has(address.toString())) return 'metadata';
  if (address.kind() === 'ipv4') return CLASS_OF_RANGE[address.range()] ?? 'reserved';
  const v6 = address as ipaddr.IPv6;
  const embedded = embeddedV4(v6);
  if (embedded !== undefined) {
    // A public IPv4 address in a transition address would be reached through a local gateway, so it does not count as
    // public.
    const inner = classifyAddress(embedded);
    return inner === 'public' ? 'reserved' : inner;
  }
  const kind = CLASS_OF_RANGE[v6.range()] ?? 'reserved';
  return kind === 'public' && !isGlobalUnicast(v6) ? 'reserved' : kind;
}

/** Whether an address is in 2000::/3, the only allocated global unicast range of IPv6. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/**
 * The IPv4 address inside a transition address: IPv4-compatible, IPv4-translated, NAT64 (both prefixes), 6to4, Teredo,
 * ISATAP.
 */
function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const p = (index: number) => address.parts[index] ?? 0;
  const allZero = (from: number, to: number) => address.parts.slice(from, to).every((part) => part === 0);
  if (allZero(0, 6) && (p(6) !== 0 || p(7) > 1)) return v4(p(6), p(7));
  if (allZero(0, 4) && p(4) === 0xffff && p(5) === 0) return v4(p(6), p(7));
  if (p(0) === 0x64 && p(1) === 0xff9b) return v4(p(6), p(7));
  if (p(0) === 0x2002) return v4(p(1), p(2));
  if (p(0) === 0x2001 && p(1) === 0) return v4(p(6) ^ 0xffff, p(7) ^ 0xffff);
  if ((p(4) & 0xfdff) === 0 && p(5) === 0x5efe) return v4(p(6), p(7));
  return undefined;
}

function v4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

/**
 * Whether text is an IPv6 address or an IPv4 address of four decimal parts. The other forms that ipaddr.js accepts
 * (short, octal, hexadecimal) do not occur, because the URL parser makes addresses canonical.
 */
function isPlain(text: string): boolean {
  return text.includes(':') ? ipaddr.IPv6.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
}
