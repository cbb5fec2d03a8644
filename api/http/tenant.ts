import type { IncomingHttpHeaders } from 'node:http';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { HttpDependencies } from './http-dependencies.ts';
import type { Route } from './route.ts';

/**
 * The tenant a request acts in: the credential's; for a super admin's session the one that `X-Tenant-ID` names; without a credential
 * the host's, else `default` (spec 1, credential kinds; spec 4 A, tenants).
 * @throws `tenant_not_found` for a slug that names none
 */
export function resolveTenant(
  principal: Principal | undefined,
  headers: IncomingHttpHeaders,
  dependencies: Pick<HttpDependencies, 'tenantState' | 'tenantOfHost'>,
): string | Promise<string> {
  if (!principal) return tenantOfHost(headers.host, dependencies);
  const named = headers['x-tenant-id'];
  if (typeof named !== 'string' || named === principal.tenant) return principal.tenant;
  if (principal.kind !== 'session' || !principal.roles.includes('super_admin')) return principal.tenant;
  return existing(named, dependencies);
}

function existing(slug: string, { tenantState }: Pick<HttpDependencies, 'tenantState'>): string {
  if (tenantState(slug) === undefined) throw refusal('tenant_not_found');
  return slug;
}

function tenantOfHost(host: string | undefined, dependencies: Pick<HttpDependencies, 'tenantOfHost'>): string | Promise<string> {
  if (host === undefined) return 'default';
  const found = dependencies.tenantOfHost(host.toLowerCase().replace(/\.?(?::\d*)?$/, ''));
  return found instanceof Promise ? found.then((slug) => slug ?? 'default') : (found ?? 'default');
}

/**
 * A disabled tenant answers to super admins only, one that is gone to nobody (spec 4 A, tenants).
 * @throws `tenant_disabled`, `authentication_required`
 */
export function refuseClosedTenant(principal: Principal, { tenantState }: Pick<HttpDependencies, 'tenantState'>): void {
  const state = tenantState(principal.tenant);
  if (state === 'active') return;
  if (state === undefined) throw refusal('authentication_required');
  if (principal.kind !== 'session' || !principal.roles.includes('super_admin')) throw refusal('tenant_disabled');
}

/** Rooms whose public routes are the install's: sign-in looks at the tenant of the session that it opens, probes at none. */
const OF_THE_INSTALL: ReadonlySet<string> = new Set(['identity', 'platform']);

/** Public routes that serve something of a tenant serve nothing of a disabled one. @throws `tenant_disabled` */
export function refuseDisabledHost({ access, tag }: Route, tenant: string, { tenantState }: Pick<HttpDependencies, 'tenantState'>): void {
  if (access.kind === 'public' && !OF_THE_INSTALL.has(tag) && tenantState(tenant) === 'disabled') throw refusal('tenant_disabled');
}
