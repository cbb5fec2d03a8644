import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { type FirstFactor, type SignedIn, completeSignIn } from './complete-sign-in.ts';
import { refuseClosedTenant } from './refuse-closed-tenant.ts';
import { rolesOfUserIn, sessionsRevisionIn } from './session-validity.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { challengeDigest } from './user-secrets.ts';

/** A sign-in that waits for the second factor. */
export type Challenged = { readonly challengeToken: string; readonly position?: GlobalPosition | undefined };

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
      digest: challengeDigest({ token: challengeToken }, dependencies),
      expiresAt: new Date(context.now().getTime() + CHALLENGE_MS),
    },
  );
  return { challengeToken };
}
