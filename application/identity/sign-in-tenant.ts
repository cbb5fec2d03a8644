import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { UserRecord } from '../ports/identity-reads.ts';

/**
 * The tenant of a new session: the requested tenant if the user is a member of it; without a requested tenant the
 * default tenant, else the tenant joined first. A super admin without memberships signs in to the default tenant.
 * @returns undefined when the user may not sign in
 */
export function signInTenant(
  { memberships, roles }: Pick<UserRecord, 'memberships' | 'roles'>,
  requested: string | undefined,
): string | undefined {
  const tenants = memberships.map(({ tenant }) => tenant);
  if (requested !== undefined) return tenants.includes(requested) ? requested : undefined;
  if (tenants.includes(DEFAULT_TENANT)) return DEFAULT_TENANT;
  return tenants[0] ?? (roles.includes(SUPER_ADMIN) ? DEFAULT_TENANT : undefined);
}
