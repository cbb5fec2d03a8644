import type { AllowedNetworks } from './allowed-networks.ts';
import { classifyAddress, parseAddress } from './classify-address.ts';
import type { OwnEndpoints } from './own-endpoints.ts';
import { canonical } from './own-endpoints.ts';
import type { Resolver } from './resolve-host.ts';
import type { Target } from './target-url.ts';
import { parseTarget } from './target-url.ts';

/** What a delivery record says of every refusal (spec 3; notes on attempts): nothing that would map our network for its reader. */
export const ADDRESS_NOT_ALLOWED = 'address not allowed';

/** Thrown by the guard; `message` is fit for the owner of the URL. */
export class RefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RefusedError';
  }
}

/** A target that was checked, with the addresses that may be connected to. */
export type CheckedTarget = Target & { readonly addresses: readonly string[] };

export type Guard = {
  /** Checks a URL's form, its host and every address behind it. @throws RefusedError, ResolveError */
  check(url: string): Promise<CheckedTarget>;
  /** Whether a connected peer's address is allowed; the last look, at the socket itself. */
  allowsPeer(address: string | undefined, internalName: boolean): boolean;
};

/** The policy: public addresses, and those that an operator opened. One bad answer refuses the whole name. */
export function createGuard({ allowed, resolver, own }: { readonly allowed: AllowedNetworks; readonly resolver: Resolver; readonly own: OwnEndpoints }): Guard {
  function allows(address: string, internalName: boolean): boolean {
    const parsed = parseAddress(address);
    if (!parsed) return false;
    // An internal name that answers with a public address is somebody's search domain at work, not the opened network.
    return (classifyAddress(parsed) === 'public' && !internalName) || allowed.opens(parsed);
  }
  async function answersOf(target: Target): Promise<readonly string[]> {
    try {
      return await resolver.resolve(target.host);
    } catch (error) {
      // Which internal names exist is nobody's business.
      if (target.isInternalName) throw new RefusedError(ADDRESS_NOT_ALLOWED);
      throw error;
    }
  }
  return {
    async check(url) {
      const target = parseTarget(url);
      if ('refused' in target) throw new RefusedError(target.refused);
      if (target.isInternalName && allowed.isEmpty) throw new RefusedError(ADDRESS_NOT_ALLOWED);
      const addresses = (target.isLiteral ? [target.host] : await answersOf(target)).map(canonical);
      if (!addresses.every((address) => allows(address, target.isInternalName))) throw new RefusedError(ADDRESS_NOT_ALLOWED);
      if (await own.include(target.host, target.port, addresses)) throw new RefusedError(ADDRESS_NOT_ALLOWED);
      return { ...target, addresses };
    },
    allowsPeer: (address, internalName) => address !== undefined && allows(canonical(address), internalName),
  };
}
