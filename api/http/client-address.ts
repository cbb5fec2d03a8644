import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.process>;

/** Where a request came from, as far as it can be told. */
export type Sender = {
  readonly peer: string | undefined;
  /** `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
  /** Whether the console proved itself by its key: the address that it names counts (spec 4 A, sign-in details). */
  readonly fromConsole: boolean;
};

/**
 * Makes the function that finds the client's address: the peer's, or, where the peer is a trusted proxy, the last address of
 * `X-Forwarded-For` that is none (`TRUSTED_PROXIES`, spec 1); for a request of the console the one before that. IPv4 in IPv6 form comes out as IPv4.
 * @throws Error when an entry is no address and no CIDR.
 */
export function createClientAddress(trustedProxies: readonly string[]): (sender: Sender) => string {
  const ranges = trustedProxies.map(parseRange);
  const trusted = (address: Address) => ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
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
      // What the console names is the person; whatever stands before it the person wrote.
      if (!proxy) break;
    }
    return client.toString();
  };
}

/** Reads `10.0.0.0/8`, `::1` and the like. @throws Error when it is neither address nor CIDR. */
export function parseRange(text: string): [Address, number] {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function parse(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}
