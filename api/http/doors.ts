import { refusal } from '../../domain/errors.ts';
import { parseRange } from './client-address.ts';
import ipaddr from 'ipaddr.js';

export type DoorOptions = {
  /** `ALLOWED_HOSTS`: host names, `*.example.org` for all below one; empty: every host. */
  readonly allowedHosts: readonly string[];
  /** `IP_ALLOWLIST`: CIDRs or addresses; empty: every address. */
  readonly ipAllowlist: readonly string[];
};

/** Who stands at the door. */
export type Caller = { readonly host: string | undefined; readonly address: string; readonly isProbe: boolean };

/**
 * Makes the check that comes before everything else (spec 1, Configuration). Probes are answered whatever host they name: a kubelet knows an
 * address only.
 * @throws `address_refused` (403), `host_not_served` (421)
 */
export function createDoors({ allowedHosts, ipAllowlist }: DoorOptions): ((caller: Caller) => void) | undefined {
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

/** A `Host` header without its port, in lower case; an IPv6 address without its brackets. */
export function hostName(host: string | undefined): string {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::\d*)?$/.exec(host ?? '');
  return (match?.[1] ?? match?.[2] ?? '').toLowerCase().replace(/\.$/, '');
}

function isWithin(address: string, ranges: readonly ReturnType<typeof parseRange>[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
}
