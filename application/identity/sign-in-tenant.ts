import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { UserRecord } from './identity-reads.ts';

/** Tenant that a person's session acts in: the one asked for where they are a member; else `default`, else the first joined (spec 4 A). @returns undefined for none */
export function signInTenant({ memberships, roles }: Pick<UserRecord, 'memberships' | 'roles'>, asked: string | undefined): string | undefined {
  const tenants = memberships.map(({ tenant }) => tenant);
  if (asked !== undefined) return tenants.includes(asked) ? asked : undefined;
  if (tenants.includes(HOME_TENANT)) return HOME_TENANT;
  return tenants[0] ?? (roles.includes(SUPER_ADMIN) ? HOME_TENANT : undefined);
}
