import { refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN } from '../../domain/identity/roles.ts';
import type { UserRecord } from './identity-reads.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Revision of the last event of the user's that ended their sessions in the tenant: those opened at another one are over. */
export function sessionsRevisionIn({ sessionsRevision, tenantSessionsRevisions }: Pick<UserRecord, 'sessionsRevision' | 'tenantSessionsRevisions'>, tenant: string): number {
  return Math.max(sessionsRevision, tenantSessionsRevisions[tenant] ?? -1);
}

/**
 * Lets only super admins into a disabled tenant, nobody into one that is gone; asked after right credentials (spec 4 A, tenants).
 * @throws `tenant_disabled`, `invalid_credentials`
 */
export function refuseClosedTenant(tenants: Pick<TenantDirectory, 'state'>, tenant: string, roles: readonly string[]): void {
  const state = tenants.state(tenant);
  if (state === undefined) throw refusal('invalid_credentials');
  if (state === 'disabled' && !roles.includes(SUPER_ADMIN)) throw refusal('tenant_disabled');
}
