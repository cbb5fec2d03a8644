import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { MfaDependencies } from './account-dependencies.ts';
import { checkMfaCode } from './check-mfa-code.ts';
import { type SignedIn, completeSignIn } from './complete-sign-in.ts';
import { isSessionValid } from './session-validity.ts';
import type { SignInDependencies } from './sign-in-dependencies.ts';
import { challengeDigest } from './user-secrets.ts';

/**
 * Completes a sign-in with the second factor. A challenge is valid for 5 minutes and works once. Events that end the
 * user's sessions invalidate it too. After a wrong code the challenge stays valid.
 * @throws `invalid_challenge`, `invalid_code`, `rate_limited`, `tenant_disabled`
 */
export async function verifyChallenge(
  { challengeToken, code }: { readonly challengeToken: string; readonly code: string },
  context: CommandContext,
  dependencies: SignInDependencies & MfaDependencies & { readonly reads: IdentityReads },
): Promise<SignedIn> {
  const { challenges, reads, vault } = dependencies;
  const digest = challengeDigest({ token: challengeToken }, { vault });
  const challenge = await challenges.find(digest, context.now());
  const user = challenge && (await reads.userById(challenge.userId));
  if (!challenge || !user || user.disabled || !isSessionValid(user, { ...challenge, sessionId: '' }))
    throw refusal('invalid_challenge');
  const { method: secondFactor } = await checkMfaCode({ user, code }, context, dependencies);
  if (!(await challenges.use(digest))) throw refusal('invalid_challenge');
  return completeSignIn(
    { user, tenant: challenge.tenant, method: challenge.method, secondFactor },
    context,
    dependencies,
  );
}
