import { createHash, timingSafeEqual } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { holdsRole } from '../../domain/identity/principal.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies, RequestFacts } from './http-dependencies.ts';
import { refuseClosedTenant } from './tenant.ts';

/** Roles whose keys the admin API refuses (spec 1, credential kinds). */
const ADMIN_ROLES = ['admin', 'super_admin'];

const BEARER = /^Bearer +(\S+)$/i;

/** Reads the credentials of a request; the content API takes no cookie (spec 4 A, sign-in details). */
export function requestFacts(headers: IncomingHttpHeaders, api: 'admin' | 'content', cookieName: string): RequestFacts {
  const { authorization, cookie } = headers;
  const key = headers['x-api-key'];
  return {
    api,
    bearer: authorization === undefined ? undefined : BEARER.exec(authorization)?.[1],
    apiKey: typeof key === 'string' ? key : undefined,
    sessionCookie: api === 'admin' && cookie !== undefined ? parseCookie(cookie)[cookieName] : undefined,
  };
}

/**
 * Enforces who may call (spec 4 A, order of refusals: 401, then 403). `path` is the concrete one.
 * @throws the refusal
 */
export function enforceAccess(
  { route, roles, unsafe }: CompiledRoute,
  principal: Principal | undefined,
  request: { readonly path: string; readonly csrf: string | undefined },
  { checkKeyScope, tenantState }: Pick<HttpDependencies, 'checkKeyScope' | 'tenantState'>,
): void {
  const { access } = route;
  if (principal?.kind === 'session' && principal.via === 'cookie' && unsafe && access.kind !== 'public') {
    if (request.csrf === undefined || !sameText(request.csrf, principal.csrfToken)) throw refusal('invalid_csrf_token');
  }
  if (access.kind === 'public') return;
  if (!principal) throw refusal('authentication_required');
  refuseClosedTenant(principal, { tenantState });
  if (principal.kind === 'admin_token') {
    const { grants } = route;
    if (grants === undefined) throw refusal('session_required');
    if (!grants.some((grant) => principal.grants.includes(grant))) throw refusal('insufficient_grant');
    return;
  }
  if (principal.kind === 'api_key') {
    if (route.api === 'admin' && holdsRole(principal, ADMIN_ROLES)) throw refusal('admin_key_refused');
    if (route.api === 'admin' || access.kind === 'session') throw refusal(access.kind === 'session' ? (access.refusal ?? 'session_required') : 'session_required');
    const refused = checkKeyScope(principal, route.method, request.path);
    if (refused) throw refusal(refused);
  }
  if (principal.kind === 'external' && access.kind === 'session') throw refusal(access.refusal ?? 'session_required');
  if (roles && !holdsRole(principal, roles)) throw refusal('insufficient_permissions');
}

/** Compares without telling by its time where two texts differ, or how long they are. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}
