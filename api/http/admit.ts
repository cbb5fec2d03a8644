import type { Principal } from '../../domain/identity/principal.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { Exchange } from './exchange.ts';
import type { HttpDependencies } from './http-dependencies.ts';

/**
 * An API key or an admin token: a credential whose requests are recorded one by one. `keyId` is the id of the key or
 * the token. `monthlyLimit` is the number of requests in a calendar month (UTC); 0 is unlimited.
 */
export type RecordedCredential = { readonly keyId: string; readonly tenant: string; readonly monthlyLimit: number };

/** The credential whose requests are recorded; undefined for sessions, external tokens and anonymous callers. */
export function recordedCredential(principal: Principal | undefined): RecordedCredential | undefined {
  switch (principal?.kind) {
    case 'api_key':
      return principal;
    case 'admin_token':
      return { keyId: principal.tokenId, tenant: principal.tenant, monthlyLimit: 0 };
    default:
      return undefined;
  }
}

/**
 * Counts a request of a key or an admin token towards its monthly limit. Runs after the checks of scope and role, and
 * before those of tenant, path and body. A public route needs no credential: the request is recorded but not counted.
 * @returns undefined when the request was admitted without waiting
 * @throws `monthly_limit_exceeded`
 */
export function admit(
  exchange: Exchange,
  { route }: CompiledRoute,
  { admitKeyRequest, now }: Pick<HttpDependencies, 'admitKeyRequest' | 'now'>,
): Promise<void> | undefined {
  const credential = route.access.kind === 'public' ? undefined : recordedCredential(exchange.principal);
  if (!credential) return undefined;
  const admitted = admitKeyRequest(credential, now());
  if (admitted instanceof Promise) {
    return admitted.then((admission) => {
      exchange.admission = admission;
    });
  }
  exchange.admission = admitted;
  return undefined;
}
