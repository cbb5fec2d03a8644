import ipaddr from 'ipaddr.js';

/**
 * The client address as rate limits count it. An IPv6 address counts as its /64 network, because one client usually
 * controls the whole network. Every other text is returned unchanged.
 */
export function addressBlock(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}
