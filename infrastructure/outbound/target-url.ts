import { parseIpAddress } from './classify-address.ts';

/** Target of a request, as its URL alone determines it. */
export type Target = {
  readonly url: URL;
  /** Lower case, without brackets and trailing dot. */
  readonly host: string;
  readonly port: number;
  /** Whether the host is an address, not a name. */
  readonly isLiteral: boolean;
  /**
   * Whether the host is a name of an internal network (single label, `.local` …). It is allowed only when all its
   * addresses are in an allowed network.
   */
  readonly isInternalName: boolean;
};

export type TargetRefusal = { readonly refused: string };

/** Limits in characters. */
const MAX_URL = 2048;
const MAX_HOST = 253;
const MAX_LABEL = 63;

/** Ports of services with other protocols. An HTTP request could contain commands of such a protocol. */
const DENIED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
  113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2113, 2181, 2375,
  2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5433, 5672, 5900, 6000, 6379, 6380, 6432, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9093, 9094, 9200, 9300, 10250, 10255, 10080, 11211, 15672,
  16379, 26379, 27017, 27018, 27019,
]);

const INTERNAL_SUFFIXES = [
  '.local',
  '.internal',
  '.localhost',
  '.localdomain',
  '.svc',
  '.lan',
  '.intranet',
  '.home.arpa',
  '.corp',
  '.home',
];
/** Names of cloud metadata services. They are never allowed, even when the operator allows their network. */
const METADATA_NAMES = new Set([
  'metadata',
  'instance-data',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data.ec2.internal',
]);

/**
 * Parses a URL. Refuses other schemes than http and https, user information, control characters and backslashes, and
 * ports of other protocols. The URL parser makes addresses canonical before they are checked.
 */
export function parseTarget(text: string): Target | TargetRefusal {
  if (text.length > MAX_URL) return { refused: 'the URL is too long' };
  // The parser silently removes tabs and newlines and replaces backslashes by slashes; refuse them instead.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) return { refused: 'the URL contains characters that are not allowed' };
  if (!/^https?:\/\/[^/]/i.test(text)) return { refused: 'the URL must start with http:// or https://' };
  if (!URL.canParse(text)) return { refused: 'the URL is not valid' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { refused: 'the URL must start with http:// or https://' };
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return { refused: 'the URL must not contain user information' };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if (DENIED_PORTS.has(port)) return { refused: 'the port is not allowed' };
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '')
    .toLowerCase();
  const isLiteral = parseIpAddress(host) !== undefined;
  if (!isLiteral && !isHostName(host)) return { refused: 'the host is not valid' };
  if (METADATA_NAMES.has(host)) return { refused: 'the host is not allowed' };
  return { url, host, port, isLiteral, isInternalName: !isLiteral && isInternal(host) };
}

function isHostName(host: string): boolean {
  return (
    host.length > 0 &&
    host.length <= MAX_HOST &&
    host.split('.').every((label) => label.length > 0 && label.length <= MAX_LABEL && /^[a-z0-9_-]+$/.test(label))
  );
}

function isInternal(host: string): boolean {
  return !host.includes('.') || INTERNAL_SUFFIXES.some((suffix) => host.endsWith(suffix));
}
