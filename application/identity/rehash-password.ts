import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { passwordProblems } from '../../domain/identity/password-policy.ts';
import type { UserRecord } from '../ports/identity-reads.ts';
import type { LockoutDependencies, PasswordDependencies } from './account-dependencies.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import { passwordPurpose } from './user-secrets.ts';

/**
 * Hashes a verified password again when its hash has another algorithm or cost than the settings say
 * (`PASSWORD_HASH_ALGO`). A failure is reported and never fails the sign-in.
 * @returns the position to wait for; undefined when the hash is current or the attempt failed
 */
export async function rehashPassword(
  { user, password }: { readonly user: UserRecord; readonly password: string },
  context: CommandContext,
  dependencies: IdentityWriteDependencies & PasswordDependencies & Pick<LockoutDependencies, 'reportFailure'>,
): Promise<GlobalPosition | undefined> {
  const {
    passwords,
    vault,
    passwordPolicy: { maxBytes },
  } = dependencies;
  const purpose = passwordPurpose(user.id);
  const currentHash = await vault.openPersonalSecret(user.id, purpose, user.passwordHash);
  if (currentHash === undefined || !passwords.isOutdated(currentHash)) return undefined;
  // A password that the new algorithm would truncate keeps its old hash.
  if (passwordProblems(password, { minLength: 0, requireComplexity: false, maxBytes }).length > 0) return undefined;
  try {
    const hash = await passwords.hash(password);
    const passwordHash = await vault.sealPersonalSecret(user.id, purpose, hash);
    const { position } = await decideOnUser(
      { userId: user.id, commandFor: () => ({ kind: 'rehash_password', passwordHash, replacing: user.passwordHash }) },
      { ...context, actor: { kind: 'user', id: user.id } },
      dependencies,
    );
    return position;
  } catch (error) {
    dependencies.reportFailure('a password could not be hashed with the current algorithm', error);
    return undefined;
  }
}
