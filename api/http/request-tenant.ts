import type { IncomingHttpHeaders } from 'node:http';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import { hostName } from './host-and-ip-filter.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { Route } from './route.ts';

/**
 * The tenant of a request: the credential's tenant; for a super admin's session the tenant in `X-Tenant-ID`; without a
 * credential the tenant of the host, else `default`.
 * @throws `tenant_not_found` when `X-Tenant-ID` names no tenant
 */
export function resolveTenant(
  principal: Principal | undefined,
  headers: IncomingHttpHeaders,
  dependencies: Pick<HttpDependencies, 'tenantState' | 'tenantOfHost'>,
): string | Promise<string> {
  if (!principal) return tenantOfHost(headers.host, dependencies);
  const header = headers['x-tenant-id'];
  if (typeof header !== 'string' || header === principal.tenant) return principal.tenant;
  if (principal.kind !== 'session' || !principal.roles.includes('super_admin')) return principal.tenant;
  return requireTenant(header, dependencies);
}

function requireTenant(slug: string, { tenantState }: Pick<HttpDependencies, 'tenantState'>): string {
  if (tenantState(slug) === undefined) throw refusal('tenant_not_found');
  return slug;
}

function tenantOfHost(
  host: string | undefined,
  dependencies: Pick<HttpDependencies, 'tenantOfHost'>,
): string | Promise<string> {
  if (host === undefined) return 'default';
  const found = dependencies.tenantOfHost(hostName(host));
  return found instanceof Promise ? found.then((slug) => slug ?? 'default') : (found ?? 'default');
}

/**
 * Modules whose public routes ignore the tenant of the host: sign-in checks the tenant of the session that it opens,
 * probes check none.
 */
const HOST_INDEPENDENT: ReadonlySet<string> = new Set(['identity', 'platform']);

/** Refuses public routes that serve data of a disabled tenant. @throws `tenant_disabled` */
export function refuseDisabledHost(
  { access, tag }: Route,
  tenant: string,
  { tenantState }: Pick<HttpDependencies, 'tenantState'>,
): void {
  if (access.kind === 'public' && !HOST_INDEPENDENT.has(tag) && tenantState(tenant) === 'disabled')
    throw refusal('tenant_disabled');
}
