import { networkInterfaces } from 'node:os';
import { parseIpAddress } from './classify-address.ts';
import type { Resolver } from './resolve-host.ts';

/**
 * A service of this installation that requests to user-defined URLs must not reach: a listener, database, broker, cache
 * or event store.
 */
export type OwnEndpoint = { readonly host: string; readonly port: number };

export type OwnEndpoints = {
  /** Whether a host and port belong to this installation. `addresses` are the canonical addresses of the host. */
  include(host: string, port: number, addresses: readonly string[]): Promise<boolean>;
};

/**
 * Compares hosts by name and by address, so an own endpoint is recognised under any name. `0.0.0.0`, `::` and `*` stand
 * for all addresses of this machine.
 */
export function createOwnEndpoints({
  list,
  resolver,
}: {
  readonly list: readonly OwnEndpoint[];
  readonly resolver: Resolver;
}): OwnEndpoints {
  return {
    async include(host, port, addresses) {
      const candidates = list.filter((endpoint) => endpoint.port === port);
      if (candidates.length === 0) return false;
      for (const own of candidates) {
        const name = own.host.toLowerCase();
        if (name === host) return true;
        const ownAddresses = await addressesOf(name, resolver);
        if (addresses.some((address) => ownAddresses.includes(address))) return true;
        if (isWildcard(name) && addresses.some((address) => parseIpAddress(address)?.range() === 'loopback'))
          return true;
      }
      return false;
    },
  };
}

async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (isWildcard(host))
    return Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => canonicalAddress(address)),
    );
  if (parseIpAddress(host)) return [canonicalAddress(host)];
  // An own endpoint whose name does not resolve has no addresses that another name could have.
  return (await resolver.resolve(host).catch(() => [])).map(canonicalAddress);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]' || host === '*';
}

/** The canonical text of an address; other text is returned as it is. */
export function canonicalAddress(address: string): string {
  return parseIpAddress(address)?.toString() ?? address;
}
