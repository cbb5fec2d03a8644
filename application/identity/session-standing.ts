import { refusal } from '../../domain/errors.ts';
import { SUPER_ADMIN, rolesInTenant } from '../../domain/identity/roles.ts';
import type { SessionRecord } from '../ports/sessions.ts';
import type { UserRecord } from './identity-reads.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Roles of a user in a tenant; of nobody's tenant only `super_admin`. */
export function rolesOf(user: Pick<UserRecord, 'roles' | 'memberships'>, tenant: string): readonly string[] {
  return rolesInTenant(user.roles, user.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
}

/** Revision of the last event of the user's that ended their sessions in the tenant: those opened at another one are over. */
export function sessionsRevisionIn({ sessionsRevision, tenantSessionsRevisions }: Pick<UserRecord, 'sessionsRevision' | 'tenantSessionsRevisions'>, tenant: string): number {
  return Math.max(sessionsRevision, tenantSessionsRevisions[tenant] ?? -1);
}

/** Whether no event of the user's has ended the session: it was opened after the last of them, or is the one that this event let go on. */
export function outlasts(user: Pick<UserRecord, 'sessionsRevision' | 'tenantSessionsRevisions' | 'keptSession'>, { sessionId, tenant, sessionsRevision }: Pick<SessionRecord, 'sessionId' | 'tenant' | 'sessionsRevision'>): boolean {
  const current = sessionsRevisionIn(user, tenant);
  return sessionsRevision === current || (user.keptSession === sessionId && current === user.sessionsRevision);
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
