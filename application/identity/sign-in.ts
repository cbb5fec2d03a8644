import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { normaliseEmail } from '../../domain/identity/email.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { MAX_PASSWORD_LENGTH } from '../../domain/identity/password-policy.ts';
import { SUPER_ADMIN, rolesInTenant } from '../../domain/identity/roles.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { findUserByEmail } from './find-user.ts';
import type { UserRecord } from './identity-reads.ts';
import type { SessionCredentials } from './open-session.ts';
import { openSession } from './open-session.ts';
import { refuseClosedTenant, sessionsRevisionIn } from './session-standing.ts';
import { passwordPurpose } from './user-secrets.ts';

export type SignIn = { readonly email: string; readonly password: string; readonly tenant?: string | undefined };

export type SignedIn = SessionCredentials & {
  readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] };
  readonly position: GlobalPosition | undefined;
};

/**
 * Signs in by password (spec 1, sign-in; spec 4 A). Unknown address, wrong password, disabled account and a tenant without a membership
 * are one answer after one hash comparison.
 * @throws `invalid_credentials`, `tenant_disabled`
 */
export async function signIn(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'claims' | 'reads' | 'sessions' | 'tokens' | 'passwords' | 'secrets' | 'vault' | 'refreshTtlSeconds' | 'tenants'>,
  { email: given, password, tenant: asked }: SignIn,
  context: CommandContext,
): Promise<SignedIn> {
  const { passwords, vault } = dependencies;
  const email = normaliseEmail(given) ?? '';
  const found = await findUserByEmail(dependencies, email);
  const hash = found && vault.openSecret(passwordPurpose(found.id), found.passwordHash);
  // Cut, so that a megabyte costs no more than a password; nobody's password is that long.
  const right = await passwords.verify(password.slice(0, MAX_PASSWORD_LENGTH + 1), hash);
  const tenant = found && tenantOf(found, asked);
  if (!found || !right || tenant === undefined || password.length > 2 * MAX_PASSWORD_LENGTH) throw refusal('invalid_credentials');
  const roles = rolesOf(found, tenant);
  // A disabled account gets no other answer than wrong credentials.
  if (!found.disabled) refuseClosedTenant(dependencies.tenants, tenant, roles);

  const actor = { kind: 'user', id: found.id } as const;
  const sessionId = context.newId();
  const { position } = await decideOnUser(
    dependencies,
    { userId: found.id, command: { kind: 'sign_in', session: { session_id: sessionId, tenant, method: 'password' } }, known: found },
    { ...context, actor },
  );
  const credentials = await openSession(dependencies, { session: { sessionId, userId: found.id, tenant, sessionsRevision: sessionsRevisionIn(found, tenant) }, roles }, context);
  return { ...credentials, user: { id: found.id, email, roles }, position };
}

/** Roles of a user in a tenant; of nobody's tenant only `super_admin`. */
export function rolesOf(user: Pick<UserRecord, 'roles' | 'memberships'>, tenant: string): readonly string[] {
  return rolesInTenant(user.roles, user.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
}

/** The tenant asked for where the person is a member; else `default`, else the first joined. */
function tenantOf({ memberships, roles }: UserRecord, asked: string | undefined): string | undefined {
  const tenants = memberships.map(({ tenant }) => tenant);
  if (asked !== undefined) return tenants.includes(asked) ? asked : undefined;
  if (tenants.includes(HOME_TENANT)) return HOME_TENANT;
  return tenants[0] ?? (roles.includes(SUPER_ADMIN) ? HOME_TENANT : undefined);
}
