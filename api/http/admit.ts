import type { Principal } from '../../domain/identity/principal.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { Exchange } from './exchange.ts';
import type { HttpDependencies } from './http-dependencies.ts';

/** A credential whose requests are recorded one by one: keys and admin tokens. `keyId` is the id of either. */
export type RecordedCredential = { readonly keyId: string; readonly tenant: string; readonly monthlyLimit: number };

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
 * Lets a request of a key or an admin token through to count: after scope and role, before tenant, path and body (spec 1, API key checks). A public
 * route asks for no credential, so that one sent along is recorded only. @throws `monthly_limit_exceeded`
 */
export function admit(exchange: Exchange, { route }: CompiledRoute, { admitKeyRequest, now }: Pick<HttpDependencies, 'admitKeyRequest' | 'now'>): Promise<void> | undefined {
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
