import type ipaddr from 'ipaddr.js';
import { classifyAddress, parseIpAddress } from './classify-address.ts';

/** Private networks that the operator allows requests to. */
export type AllowedNetworks = {
  readonly isEmpty: boolean;
  /**
   * Whether an address is allowed: by a network that contains it; a metadata address only by an entry for exactly this
   * address.
   */
  allows(address: ipaddr.IPv4 | ipaddr.IPv6): boolean;
};

/**
 * Parses `WEBHOOK_ALLOWED_PRIVATE_NETWORKS`: CIDR ranges and single addresses.
 * @throws RangeError for any other entry, so that the service does not start with a mistake in the setting
 */
export function parseAllowedNetworks(entries: readonly string[]): AllowedNetworks {
  const networks = entries
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseNetwork);
  return {
    isEmpty: networks.length === 0,
    allows(address) {
      const metadata = classifyAddress(address) === 'metadata';
      return networks.some(({ base, bits }) => {
        if (base.kind() !== address.kind()) return false;
        return metadata ? base.toString() === address.toString() && bits === widthOf(base) : address.match(base, bits);
      });
    },
  };
}

function parseNetwork(entry: string): { readonly base: ipaddr.IPv4 | ipaddr.IPv6; readonly bits: number } {
  const [text = '', suffix, ...rest] = entry.split('/');
  const base = parseIpAddress(text);
  const bits = suffix === undefined && base ? widthOf(base) : Number(suffix);
  const wellFormed =
    base !== undefined &&
    rest.length === 0 &&
    (suffix === undefined || /^\d{1,3}$/.test(suffix)) &&
    bits <= widthOf(base);
  if (!wellFormed)
    throw new RangeError(
      `WEBHOOK_ALLOWED_PRIVATE_NETWORKS: neither an address nor a CIDR range: ${JSON.stringify(entry.slice(0, 80))}`,
    );
  return { base, bits };
}

function widthOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.kind() === 'ipv4' ? 32 : 128;
}
