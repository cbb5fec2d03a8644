import { MAX_PASSWORD_LENGTH } from '../../domain/identity/password-policy.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { PasswordDependencies } from './account-dependencies.ts';
import { passwordPurpose } from './user-secrets.ts';

/**
 * Whether the password is the user's. Without a user the check fails after the same time as a wrong password. Call it
 * within the account lockout.
 */
export async function verifyPassword(
  { user, password }: { readonly user: Pick<UserRecord, 'id' | 'passwordHash'> | undefined; readonly password: string },
  { passwords, vault }: Pick<PasswordDependencies, 'passwords' | 'vault'>,
): Promise<boolean> {
  const hash = user && (await vault.openPersonalSecret(user.id, passwordPurpose(user.id), user.passwordHash));
  // Longer input is cut before hashing, so that a huge body costs no more than a password, and is refused afterwards.
  const matches = await passwords.verify(password.slice(0, 2 * MAX_PASSWORD_LENGTH), hash);
  return matches && password.length < 2 * MAX_PASSWORD_LENGTH;
}
