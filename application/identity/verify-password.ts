import { MAX_PASSWORD_LENGTH } from '../../domain/identity/password-policy.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { passwordPurpose } from './user-secrets.ts';

/** Whether a password is the user's; of nobody's it takes the same time to say no. Ask within the lockout. */
export async function verifyPassword({ passwords, vault }: Pick<IdentityDependencies, 'passwords' | 'vault'>, user: Pick<UserRecord, 'id' | 'passwordHash'> | undefined, password: string): Promise<boolean> {
  const hash = user && vault.openSecret(passwordPurpose(user.id), user.passwordHash);
  // Cut, so that a megabyte costs no more than a password; nobody's password is that long.
  const matches = await passwords.verify(password.slice(0, 2 * MAX_PASSWORD_LENGTH), hash);
  return matches && password.length < 2 * MAX_PASSWORD_LENGTH;
}
