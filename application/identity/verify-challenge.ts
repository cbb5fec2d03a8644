import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { CodeDependencies } from './check-code.ts';
import { checkCode } from './check-code.ts';
import type { SignInDependencies, SignedIn } from './complete-sign-in.ts';
import { completeSignIn } from './complete-sign-in.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { outlasts } from './session-standing.ts';
import { challengeDigest } from './user-secrets.ts';

/**
 * Finishes a sign-in by the second factor (spec 4 A, sign-in details). A challenge lives 5 minutes, works once, and dies with what ends sessions; a wrong
 * code leaves it for another try.
 * @throws `invalid_challenge`, `invalid_code`, `rate_limited`, `tenant_disabled`
 */
export async function verifyChallenge(
  dependencies: SignInDependencies & CodeDependencies & Pick<IdentityDependencies, 'reads'>,
  { challengeToken, code }: { readonly challengeToken: string; readonly code: string },
  context: CommandContext,
): Promise<SignedIn> {
  const { challenges, reads, vault } = dependencies;
  const digest = challengeDigest(vault, challengeToken);
  const challenge = await challenges.find(digest, context.now());
  const user = challenge && (await reads.userById(challenge.userId));
  if (!challenge || !user || user.disabled || !outlasts(user, { ...challenge, sessionId: '' })) throw refusal('invalid_challenge');
  const { method: secondFactor } = await checkCode(dependencies, { user, code }, context);
  if (!(await challenges.use(digest))) throw refusal('invalid_challenge');
  return completeSignIn(dependencies, { user, tenant: challenge.tenant, method: challenge.method, secondFactor }, context);
}
