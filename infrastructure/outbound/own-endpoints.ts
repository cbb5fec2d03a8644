import { networkInterfaces } from 'node:os';
import { parseAddress } from './classify-address.ts';
import type { Resolver } from './resolve-host.ts';

/** A service of this install that no user's request may reach: our listeners, database, broker, cache, event store. */
export type OwnEndpoint = { readonly host: string; readonly port: number };

/** Tells whether a host and port are the install's own. */
export type OwnEndpoints = {
  /** `addresses`: what the host resolved to, canonical. */
  include(host: string, port: number, addresses: readonly string[]): Promise<boolean>;
};

/** Compares by name and by address: an own endpoint is found behind any other name for it. `0.0.0.0` and `::` stand for every address of this machine. */
export function ownEndpoints(list: readonly OwnEndpoint[], resolver: Resolver): OwnEndpoints {
  return {
    async include(host, port, addresses) {
      const candidates = list.filter((endpoint) => endpoint.port === port);
      if (candidates.length === 0) return false;
      for (const own of candidates) {
        const name = own.host.toLowerCase();
        if (name === host) return true;
        const theirs = await addressesOf(name, resolver);
        if (addresses.some((address) => theirs.includes(address))) return true;
        if (isWildcard(name) && addresses.some((address) => parseAddress(address)?.range() === 'loopback')) return true;
      }
      return false;
    },
  };
}

async function addressesOf(host: string, resolver: Resolver): Promise<readonly string[]> {
  if (isWildcard(host)) return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => canonical(address)));
  if (parseAddress(host)) return [canonical(host)];
  // An own endpoint whose name does not resolve can't be reached by any name either.
  return (await resolver.resolve(host).catch(() => [])).map(canonical);
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]' || host === '*';
}

/** One spelling for each address. */
export function canonical(address: string): string {
  return parseAddress(address)?.toString() ?? address;
}
