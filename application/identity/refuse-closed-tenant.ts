import { type ErrorCode, refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { TenantDirectory } from './tenant-directory.ts';

export type TenantAccess = {
  readonly tenant: string;
  /** Roles of the person; empty for keys, tokens and external identities, which are never super admins. */
  readonly roles: readonly string[];
  /** The refusal for a tenant that does not exist or was deleted. */
  readonly unknownTenant: Extract<ErrorCode, 'invalid_credentials' | 'authentication_required'>;
};

/**
 * Refuses access to a tenant that is disabled or does not exist. A disabled tenant stays open to super admins.
 * Call it after the credentials were verified, so that the refusal reveals nothing to an unauthenticated caller.
 * @throws `tenant_disabled`, or the code of `unknownTenant`
 */
export function refuseClosedTenant(
  { tenant, roles, unknownTenant }: TenantAccess,
  { tenants }: { readonly tenants: Pick<TenantDirectory, 'state'> },
): void {
  const state = tenants.state(tenant);
  if (state === 'active') return;
  if (state === undefined) throw refusal(unknownTenant);
  if (!roles.includes(SUPER_ADMIN)) throw refusal('tenant_disabled');
}
