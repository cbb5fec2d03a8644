import { parseCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from '../../application/identity/authenticator.ts';
import { refuseClosedTenant } from '../../application/identity/refuse-closed-tenant.ts';
import { refusal } from '../../domain/errors.ts';
import { equalSecrets } from '../../domain/identity/equal-secrets.ts';
import { type Principal, holdsRole } from '../../domain/identity/principal.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { CompiledRoute } from './compile-route.ts';
import type { HttpDependencies } from './http-dependencies.ts';

/** The Admin API refuses an API key that holds one of these roles. */
const ADMIN_ROLES = ['admin', 'super_admin'];

const BEARER = /^Bearer +(\S+)$/i;

/** Reads the credentials of a request from its headers. The Content API ignores cookies. */
export function credentialsOf(headers: IncomingHttpHeaders, api: 'admin' | 'content', cookieName: string): Credentials {
  const { authorization, cookie } = headers;
  const key = headers['x-api-key'];
  return {
    api,
    bearer: authorization === undefined ? undefined : BEARER.exec(authorization)?.[1],
    apiKey: typeof key === 'string' ? key : undefined,
    sessionCookie: api === 'admin' && cookie !== undefined ? ownValue(parseCookie(cookie), cookieName) : undefined,
  };
}

/**
 * Checks that the caller may call the route: authentication first (401), then permissions (403). `path` is the path of
 * the request, with the values of its parameters.
 * @throws `authentication_required`, `tenant_disabled`, `invalid_csrf_token`, `session_required` or the route's own
 * code, `insufficient_grant`, `admin_key_refused`, `insufficient_scope`, `insufficient_permissions`
 */
export function enforceAccess(
  { route, roles, unsafe }: CompiledRoute,
  principal: Principal | undefined,
  request: { readonly path: string; readonly csrf: string | undefined },
  { checkKeyScope, tenantState }: Pick<HttpDependencies, 'checkKeyScope' | 'tenantState'>,
): void {
  const { access } = route;
  if (principal?.kind === 'session' && principal.via === 'cookie' && unsafe && access.kind !== 'public') {
    if (request.csrf === undefined || !equalSecrets(request.csrf, principal.csrfToken))
      throw refusal('invalid_csrf_token');
  }
  if (access.kind === 'public') return;
  if (!principal) throw refusal('authentication_required');
  refuseClosedTenant(
    {
      tenant: principal.tenant,
      roles: principal.kind === 'session' ? principal.roles : [],
      unknownTenant: 'authentication_required',
    },
    { tenants: { state: tenantState } },
  );
  if (principal.kind === 'admin_token') {
    const { grants } = route;
    if (grants === undefined) throw refusal('session_required');
    if (!grants.some((grant) => principal.grants.includes(grant))) throw refusal('insufficient_grant');
    return;
  }
  if (principal.kind === 'api_key') {
    if (route.api === 'admin' && holdsRole(principal, ADMIN_ROLES)) throw refusal('admin_key_refused');
    if (route.api === 'admin' || access.kind === 'session')
      throw refusal(access.kind === 'session' ? (access.refusal ?? 'session_required') : 'session_required');
    const refused = checkKeyScope(principal, route.method, request.path);
    if (refused) throw refusal(refused);
  }
  if (principal.kind === 'external' && access.kind === 'session') throw refusal(access.refusal ?? 'session_required');
  if (roles && !holdsRole(principal, roles)) throw refusal('insufficient_permissions');
}
