import type { AllowedNetworks } from './allowed-networks.ts';
import { classifyAddress, parseIpAddress } from './classify-address.ts';
import { type OwnEndpoints, canonicalAddress } from './own-endpoints.ts';
import type { Resolver } from './resolve-host.ts';
import { type Target, parseTarget } from './target-url.ts';

/**
 * Error of every refused request. It is the same for all reasons, so that it reveals nothing about internal networks.
 */
export const ADDRESS_NOT_ALLOWED = 'address not allowed';

/** The guard refused a URL. The message may be shown to the owner of the URL. */
export class AddressNotAllowedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressNotAllowedError';
  }
}

/** A checked target with the addresses that may be connected to. */
export type CheckedTarget = Target & { readonly addresses: readonly string[] };

export type AddressGuard = {
  /** Checks the form of a URL, its host and all addresses of the host. @throws AddressNotAllowedError, ResolveError */
  check(url: string): Promise<CheckedTarget>;
  /** Whether the address of a connected peer is allowed. It is checked again on the socket after connecting. */
  allowsPeer(address: string | undefined, internalName: boolean): boolean;
};

/**
 * Creates the guard. It allows public addresses and those in the allowed networks, except the installation's own
 * endpoints. A name is refused when one of its addresses is.
 */
export function createAddressGuard({
  allowed,
  resolver,
  own,
}: {
  readonly allowed: AllowedNetworks;
  readonly resolver: Resolver;
  readonly own: OwnEndpoints;
}): AddressGuard {
  function allows(address: string, internalName: boolean): boolean {
    const parsed = parseIpAddress(address);
    if (!parsed) return false;
    // An internal name may resolve to a public address by a search domain. That is not the intended host, so it is not
    // allowed.
    return (classifyAddress(parsed) === 'public' && !internalName) || allowed.allows(parsed);
  }
  async function resolve(target: Target): Promise<readonly string[]> {
    try {
      return await resolver.resolve(target.host);
    } catch (error) {
      // Do not reveal which internal names exist.
      if (target.isInternalName) throw new AddressNotAllowedError(ADDRESS_NOT_ALLOWED);
      throw error;
    }
  }
  return {
    async check(url) {
      const target = parseTarget(url);
      if ('refused' in target) throw new AddressNotAllowedError(target.refused);
      if (target.isInternalName && allowed.isEmpty) throw new AddressNotAllowedError(ADDRESS_NOT_ALLOWED);
      const addresses = (target.isLiteral ? [target.host] : await resolve(target)).map(canonicalAddress);
      if (!addresses.every((address) => allows(address, target.isInternalName)))
        throw new AddressNotAllowedError(ADDRESS_NOT_ALLOWED);
      if (await own.include(target.host, target.port, addresses)) throw new AddressNotAllowedError(ADDRESS_NOT_ALLOWED);
      return { ...target, addresses };
    },
    allowsPeer: (address, internalName) => address !== undefined && allows(canonicalAddress(address), internalName),
  };
}
