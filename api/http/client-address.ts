import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.process>;

/** What a request reveals about the address of its client. */
export type Sender = {
  /** Address of the TCP connection; undefined when it is closed. */
  readonly peer: string | undefined;
  /** `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
  /** Whether the request carries a valid console key. The address that the console forwards is then trusted. */
  readonly fromConsole: boolean;
};

/** The address of a client; empty when its connection is closed. */
export type ClientAddress = (sender: Sender) => string;

/**
 * Creates the function that finds the client's address. It is the peer's address, or, if the peer is a trusted proxy
 * (`TRUSTED_PROXIES`), the last address in `X-Forwarded-For` that is not a trusted proxy. For a request of the console
 * it is the address before that one. An IPv4 address in IPv6 form is returned as IPv4.
 * @throws Error when an entry is neither an address nor a CIDR
 */
export function createClientAddress({ trustedProxies }: { readonly trustedProxies: readonly string[] }): ClientAddress {
  const ranges = trustedProxies.map(parseRange);
  const trusted = (address: Address) =>
    ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  return ({ peer, forwarded, fromConsole }) => {
    if (peer === undefined) return '';
    const plain = peer.startsWith('::ffff:') ? peer.slice(7) : peer;
    if (forwarded === undefined || (ranges.length === 0 && !fromConsole)) return plain;
    let client = parse(plain);
    if (!client) return plain;
    const hops = forwarded.split(',', 64);
    for (let at = hops.length - 1; at >= 0; at -= 1) {
      const proxy = trusted(client);
      if (!proxy && !fromConsole) break;
      const hop = parse((hops[at] ?? '').trim());
      if (!hop) break;
      client = hop;
      // The console appends the address of its user. The user's browser controls all entries before that one.
      if (!proxy) break;
    }
    return client.toString();
  };
}

/** Parses a CIDR (`10.0.0.0/8`) or an address (`::1`). @throws Error for any other text */
export function parseRange(text: string): [Address, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}
