import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { CodeDependencies } from './check-code.ts';
import { checkCode } from './check-code.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { withinLockout } from './lockout.ts';
import { verifyPassword } from './verify-password.ts';

export type ConfirmationDependencies = CodeDependencies & Pick<IdentityDependencies, 'reads' | 'passwords'>;

/** What a signed-in person shows once more before something that a stolen session must not do. */
export type Confirmation = { readonly userId: string; readonly password?: string | undefined; readonly mfaCode?: string | undefined };

/**
 * Confirms that whoever holds the session is the person: by their password or by a code of their second factor (spec 1, admin tokens, device
 * sign-in; spec 4 A). What is given must be right; failures count towards lockout and `mfa.verify` like those at sign-in.
 * @returns the person's record
 * @throws `confirmation_required` (neither was given), `invalid_password` (also of a blocked account), `invalid_code`, `rate_limited`, `authentication_required` (the account is gone)
 */
export async function confirmPerson(dependencies: ConfirmationDependencies, { userId, password, mfaCode }: Confirmation, context: CommandContext): Promise<UserRecord> {
  const user = await dependencies.reads.userById(userId);
  if (!user) throw refusal('authentication_required');
  if (password === undefined && mfaCode === undefined) throw refusal('confirmation_required');
  if (password !== undefined && !(await withinLockout(dependencies, { userId }, () => verifyPassword(dependencies, user, password), context))) {
    throw refusal('invalid_password');
  }
  if (mfaCode !== undefined) await checkCode(dependencies, { user, code: mfaCode }, context);
  return user;
}
