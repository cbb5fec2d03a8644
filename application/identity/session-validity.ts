import { rolesInTenant } from '../../domain/identity/roles.ts';
import { ownValue } from '../../domain/own-value.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { SessionRecord } from '../ports/sessions.ts';

/** Roles in force of a user in a tenant. A user without a membership there has at most `super_admin`. */
export function rolesOfUserIn(user: Pick<UserRecord, 'roles' | 'memberships'>, tenant: string): readonly string[] {
  return rolesInTenant(user.roles, user.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
}

/**
 * Revision of the user's last event that ended their sessions in the tenant. A session records this revision when it
 * opens; a session that recorded another one has ended.
 */
export function sessionsRevisionIn(
  { sessionsRevision, tenantSessionsRevisions }: Pick<UserRecord, 'sessionsRevision' | 'tenantSessionsRevisions'>,
  tenant: string,
): number {
  return Math.max(sessionsRevision, ownValue(tenantSessionsRevisions, tenant) ?? -1);
}

/**
 * Whether no event of the user has ended the session: the session was opened after the last session-ending event, or
 * that event kept this session open (a password change by its owner).
 */
export function isSessionValid(
  user: Pick<UserRecord, 'sessionsRevision' | 'tenantSessionsRevisions' | 'keptSession'>,
  { sessionId, tenant, sessionsRevision }: Pick<SessionRecord, 'sessionId' | 'tenant' | 'sessionsRevision'>,
): boolean {
  const current = sessionsRevisionIn(user, tenant);
  return sessionsRevision === current || (user.keptSession === sessionId && current === user.sessionsRevision);
}
