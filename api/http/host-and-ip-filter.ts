import ipaddr from 'ipaddr.js';
import { refusal } from '../../domain/errors.ts';
import { parseRange } from './client-address.ts';

export type HostAndIpFilterOptions = {
  /** `ALLOWED_HOSTS`: host names; `*.example.org` allows all subdomains. Empty: every host. */
  readonly allowedHosts: readonly string[];
  /** `IP_ALLOWLIST`: CIDRs or addresses; empty: every address. */
  readonly ipAllowlist: readonly string[];
};

/** What the filter checks: the `Host` header, the client's address, and whether the path is that of a probe. */
export type Caller = { readonly host: string | undefined; readonly address: string; readonly isProbe: boolean };

/**
 * Creates the host and IP filter, the first check of every request. Probes are exempt from the host check, because a
 * kubelet sends an IP address as the host.
 * @returns undefined when neither list has an entry; the filter throws `address_refused` (403) or `host_not_served`
 * (421)
 * @throws Error when an entry of `ipAllowlist` is neither an address nor a CIDR
 */
export function createHostAndIpFilter({
  allowedHosts,
  ipAllowlist,
}: HostAndIpFilterOptions): ((caller: Caller) => void) | undefined {
  if (allowedHosts.length === 0 && ipAllowlist.length === 0) return undefined;
  const ranges = ipAllowlist.map(parseRange);
  const names = new Set(allowedHosts.map((host) => host.toLowerCase()).filter((host) => !host.startsWith('*.')));
  const suffixes = allowedHosts.filter((host) => host.startsWith('*.')).map((host) => host.slice(1).toLowerCase());
  return ({ host, address, isProbe }) => {
    if (ranges.length > 0 && !isWithin(address, ranges)) throw refusal('address_refused');
    if (allowedHosts.length === 0 || isProbe) return;
    const name = hostName(host);
    if (!names.has(name) && !suffixes.some((suffix) => name.endsWith(suffix))) throw refusal('host_not_served');
  };
}

/** The name in a `Host` header: lower case, without port, trailing dot and the brackets of an IPv6 address. */
export function hostName(host: string | undefined): string {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(host ?? '');
  return (match?.[1] ?? match?.[2] ?? '').toLowerCase().replace(/\.$/, '');
}

function isWithin(address: string, ranges: readonly ReturnType<typeof parseRange>[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}
