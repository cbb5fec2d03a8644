import type ipaddr from 'ipaddr.js';
import { classifyAddress, parseAddress } from './classify-address.ts';

/** Private networks that an operator opened. */
export type AllowedNetworks = {
  readonly isEmpty: boolean;
  /** Whether the address was opened: by a network around it, or, for metadata addresses, by its exact name only. */
  opens(address: ipaddr.IPv4 | ipaddr.IPv6): boolean;
};

/**
 * Reads `WEBHOOK_ALLOWED_PRIVATE_NETWORKS`: CIDR ranges and single addresses.
 * @throws RangeError for an entry that is neither, so that a mistake stops the start and opens nothing
 */
export function parseAllowedNetworks(entries: readonly string[]): AllowedNetworks {
  const networks = entries.map((entry) => entry.trim()).filter((entry) => entry !== '').map(parseNetwork);
  return {
    isEmpty: networks.length === 0,
    opens(address) {
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
  const base = parseAddress(text);
  const bits = suffix === undefined && base ? widthOf(base) : Number(suffix);
  const wellFormed = base !== undefined && rest.length === 0 && (suffix === undefined || /^\d{1,3}$/.test(suffix)) && bits <= widthOf(base);
  if (!wellFormed) throw new RangeError(`WEBHOOK_ALLOWED_PRIVATE_NETWORKS: neither an address nor a CIDR range: ${JSON.stringify(entry.slice(0, 80))}`);
  return { base, bits };
}

function widthOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.kind() === 'ipv4' ? 32 : 128;
}
