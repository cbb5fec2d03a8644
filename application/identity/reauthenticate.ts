import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { ReauthenticationDependencies } from './account-dependencies.ts';
import { withinLockout } from './account-lockout.ts';
import { checkMfaCode } from './check-mfa-code.ts';
import { verifyPassword } from './verify-password.ts';

/** What a signed-in user sends again before a sensitive action: a password, a code of the second factor, or both. */
export type Reauthentication = {
  readonly userId: string;
  readonly password?: string | undefined;
  readonly mfaCode?: string | undefined;
};

/**
 * Confirms that the holder of a session is the user, so that a stolen session alone cannot do the action. Everything
 * that is sent must be right. Failures count towards the account lockout and `mfa.verify`, as at sign-in.
 * @returns the user's record
 * @throws `confirmation_required` (neither was sent), `invalid_password` (also for a locked account), `invalid_code`,
 *   `rate_limited`, `authentication_required` (the account no longer exists)
 */
export async function reauthenticate(
  { userId, password, mfaCode }: Reauthentication,
  context: CommandContext,
  dependencies: ReauthenticationDependencies,
): Promise<UserRecord> {
  const user = await dependencies.reads.userById(userId);
  if (!user) throw refusal('authentication_required');
  if (password === undefined && mfaCode === undefined) throw refusal('confirmation_required');
  if (password !== undefined) {
    const verify = () => verifyPassword({ user, password }, dependencies);
    if (!(await withinLockout({ account: { userId }, verify }, context, dependencies)))
      throw refusal('invalid_password');
  }
  if (mfaCode !== undefined) await checkMfaCode({ user, code: mfaCode }, context, dependencies);
  return user;
}
