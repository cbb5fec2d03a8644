import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { MfaMethod } from '../../domain/identity/mfa.ts';
import type { SignInMethod } from '../../domain/identity/user-events.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import { decideOnUser } from './decide-on-user.ts';
import { type SessionCredentials, openSession } from './open-session.ts';
import { refuseClosedTenant } from './refuse-closed-tenant.ts';
import { rolesOfUserIn, sessionsRevisionIn } from './session-validity.ts';
import type { CompleteSignInDependencies, SignInDependencies } from './sign-in-dependencies.ts';
import { challengeDigest } from './user-secrets.ts';

export type SignedIn = SessionCredentials & {
  readonly user: { readonly id: string; readonly email: string; readonly roles: readonly string[] };
  readonly position: GlobalPosition | undefined;
};

/** A sign-in that waits for the second factor. */
export type Challenged = { readonly challengeToken: string; readonly position?: GlobalPosition | undefined };

/** A user whose first factor was right. */
export type FirstFactor = { readonly user: UserRecord; readonly tenant: string; readonly method: SignInMethod };

const CHALLENGE_MS = 5 * 60_000;

/**
 * Continues a sign-in after its first factor (password, magic link): opens the session, or a challenge when the
 * account has a second factor.
 * @throws `tenant_disabled`, `invalid_credentials` (the account or tenant was disabled or deleted meanwhile)
 */
export async function signInOrChallenge(
  { user, tenant, method }: FirstFactor,
  context: CommandContext,
  dependencies: SignInDependencies,
): Promise<SignedIn | Challenged> {
  if (!user.mfa) return completeSignIn({ user, tenant, method }, context, dependencies);
  refuseClosedTenant(
    { tenant, roles: rolesOfUserIn(user, tenant), unknownTenant: 'invalid_credentials' },
    dependencies,
  );
  const challengeToken = dependencies.secrets.refreshToken();
  await dependencies.challenges.open(
    { userId: user.id, tenant, method, sessionsRevision: sessionsRevisionIn(user, tenant) },
    {
      digest: challengeDigest(challengeToken, dependencies.vault),
      expiresAt: new Date(context.now().getTime() + CHALLENGE_MS),
    },
  );
  return { challengeToken };
}

/** Opens the session of a user who passed all required factors. @throws as `signInOrChallenge` */
export async function completeSignIn(
  { user, tenant, method, secondFactor }: FirstFactor & { readonly secondFactor?: MfaMethod },
  context: CommandContext,
  dependencies: CompleteSignInDependencies,
): Promise<SignedIn> {
  const roles = rolesOfUserIn(user, tenant);
  refuseClosedTenant({ tenant, roles, unknownTenant: 'invalid_credentials' }, dependencies);
  const email = await dependencies.vault.openPersonal(user.id, user.email);
  if (email === undefined) throw refusal('invalid_credentials');
  const sessionId = context.newId();
  const { position } = await decideOnUser(
    { userId: user.id, commandFor: () => ({ kind: 'sign_in', sessionId, tenant, method, secondFactor }), known: user },
    { ...context, actor: { kind: 'user', id: user.id } },
    dependencies,
  );
  const credentials = await openSession(
    { session: { sessionId, userId: user.id, tenant, sessionsRevision: sessionsRevisionIn(user, tenant) }, roles },
    context,
    dependencies,
  );
  return { ...credentials, user: { id: user.id, email, roles }, position };
}
