import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { MfaMethod } from '../../domain/identity/mfa.ts';
import type { SignInMethod } from '../../domain/identity/user-events.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import type { SessionCredentials } from './open-session.ts';
import { openSession } from './open-session.ts';
import { refuseClosedTenant, rolesOf, sessionsRevisionIn } from './session-standing.ts';
import { challengeDigest } from './user-secrets.ts';

export type SignedIn = SessionCredentials & {
  readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] };
  readonly position: GlobalPosition | undefined;
};

/** A sign-in that waits for the second factor. */
export type Challenged = { readonly challengeToken: string; readonly position?: GlobalPosition | undefined };

export type SignInDependencies = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'sessions' | 'tokens' | 'secrets' | 'vault' | 'refreshTtlSeconds' | 'tenants' | 'challenges'>;

/** Somebody whose first factor was right. */
export type FirstFactor = { readonly user: UserRecord; readonly tenant: string; readonly method: SignInMethod };

const CHALLENGE_MS = 5 * 60_000;

/**
 * Goes on after a first factor that was right (password, magic link): opens the session, or a challenge for an account with a second factor
 * (spec 1, session rules; spec 4 A, sign-in details).
 * @throws `tenant_disabled`, `invalid_credentials` (the account or the tenant is gone or disabled meanwhile)
 */
export async function signInOrChallenge(dependencies: SignInDependencies, { user, tenant, method }: FirstFactor, context: CommandContext): Promise<SignedIn | Challenged> {
  if (!user.mfa) return completeSignIn(dependencies, { user, tenant, method }, context);
  refuseClosedTenant(dependencies.tenants, tenant, rolesOf(user, tenant));
  const challengeToken = dependencies.secrets.refreshToken();
  await dependencies.challenges.open(
    { userId: user.id, tenant, method, sessionsRevision: sessionsRevisionIn(user, tenant) },
    { digest: challengeDigest(dependencies.vault, challengeToken), expiresAt: new Date(context.now().getTime() + CHALLENGE_MS) },
  );
  return { challengeToken };
}

/** Opens the session of somebody who has shown all that is asked for. @throws as `signInOrChallenge` */
export async function completeSignIn(dependencies: Omit<SignInDependencies, 'challenges'>, { user, tenant, method, secondFactor }: FirstFactor & { readonly secondFactor?: MfaMethod }, context: CommandContext): Promise<SignedIn> {
  const roles = rolesOf(user, tenant);
  refuseClosedTenant(dependencies.tenants, tenant, roles);
  const email = await dependencies.vault.openPersonal(user.id, user.email);
  if (email === undefined) throw refusal('invalid_credentials');
  const sessionId = context.newId();
  const session = { session_id: sessionId, tenant, method, ...(secondFactor === undefined ? {} : { second_factor: secondFactor }) };
  const { position } = await decideOnUser(dependencies, { userId: user.id, command: { kind: 'sign_in', session }, known: user }, { ...context, actor: { kind: 'user', id: user.id } });
  const credentials = await openSession(dependencies, { session: { sessionId, userId: user.id, tenant, sessionsRevision: sessionsRevisionIn(user, tenant) }, roles }, context);
  return { ...credentials, user: { id: user.id, email, roles }, position };
}
