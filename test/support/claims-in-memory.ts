import type { ClaimRequest, Claims } from '../../application/ports/claims.ts';

/** The port `Claims` in memory, for one process. `held` maps each claim, as JSON, to its owner stream. */
export function claimsInMemory(): Claims & { readonly held: ReadonlyMap<string, string> } {
  const held = new Map<string, string>();
  const key = ({ tenant, scope, value }: ClaimRequest) => JSON.stringify([tenant, scope, value]);
  return {
    held,
    keysOf: (requests) =>
      requests.map(({ tenant, scope, value }) => ({ tenant, scope, digest: Buffer.from(value).toString('hex') })),
    claim: ({ owner, claimed }) => {
      const lost = claimed.filter((request) => (held.get(key(request)) ?? owner) !== owner);
      if (lost.length === 0) for (const request of claimed) held.set(key(request), owner);
      return Promise.resolve(lost);
    },
    ownerOf: (request) => Promise.resolve(held.get(key(request))),
    heldByOthers: (owner, requests) =>
      Promise.resolve(requests.filter((request) => (held.get(key(request)) ?? owner) !== owner)),
    confirm: ({ owner, confirmed, released }) => {
      for (const request of released) if (held.get(key(request)) === owner) held.delete(key(request));
      for (const request of confirmed) held.set(key(request), owner);
      return Promise.resolve();
    },
    abandon: ({ owner, claimed }) => {
      for (const request of claimed) if (held.get(key(request)) === owner) held.delete(key(request));
      return Promise.resolve();
    },
    backfill: (values) => {
      for (const [owner, requests] of values)
        for (const request of requests) if (!held.has(key(request))) held.set(key(request), owner);
      return Promise.resolve();
    },
    unsettleOthers: () => Promise.resolve(),
    unsettleScopes: () => Promise.resolve(),
    releaseScopes: ({ tenant, prefix }) => {
      for (const known of held.keys()) {
        const [of = '', scope = ''] = JSON.parse(known) as readonly string[];
        if (of === tenant && scope.startsWith(prefix)) held.delete(known);
      }
      return Promise.resolve();
    },
  };
}
