import ipaddr from 'ipaddr.js';

/**
 * The client address as limits count it: an IPv6 one by its first 64 bits, since whoever has one of these addresses has them all.
 * Anything else stands for itself.
 */
export function addressBlock(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
