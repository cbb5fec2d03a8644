import type { IncomingHttpHeaders } from 'node:http';
import { refusal } from '../../domain/errors.ts';
import type { Principal } from '../../domain/identity/principal.ts';
import type { HttpDependencies } from './http-dependencies.ts';

/**
 * The tenant a request acts in: the credential's; for a super admin's session the one that `X-Tenant-ID` names; without a credential
 * the host's, else `default` (spec 1, credential kinds; spec 4 A, tenants).
 * @throws `tenant_not_found` for a slug that names none
 */
export function resolveTenant(
  principal: Principal | undefined,
  headers: IncomingHttpHeaders,
  dependencies: Pick<HttpDependencies, 'tenantExists' | 'tenantOfHost'>,
): string | Promise<string> {
  if (!principal) return tenantOfHost(headers.host, dependencies);
  const named = headers['x-tenant-id'];
  if (typeof named !== 'string' || named === principal.tenant) return principal.tenant;
  if (principal.kind !== 'session' || !principal.roles.includes('super_admin')) return principal.tenant;
  return existing(named, dependencies);
}

async function existing(slug: string, { tenantExists }: Pick<HttpDependencies, 'tenantExists'>): Promise<string> {
  if (!SLUG.test(slug) || !(await tenantExists(slug))) throw refusal('tenant_not_found');
  return slug;
}

function tenantOfHost(host: string | undefined, dependencies: Pick<HttpDependencies, 'tenantOfHost'>): string | Promise<string> {
  if (host === undefined) return 'default';
  const found = dependencies.tenantOfHost(host.toLowerCase().replace(/:\d*$/, ''));
  return found instanceof Promise ? found.then((slug) => slug ?? 'default') : (found ?? 'default');
}

const SLUG = /^[a-z][a-z0-9_]{0,62}$/;
