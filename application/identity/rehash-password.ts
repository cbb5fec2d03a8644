import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { passwordProblems } from '../../domain/identity/password-policy.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { passwordPurpose } from './user-secrets.ts';

/** Hashes a password that was right anew where algorithm or cost are others by now (`PASSWORD_HASH_ALGO`). That it failed is no reason to refuse a sign-in. @returns position to wait for */
export async function rehashPassword(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'passwords' | 'vault' | 'passwordPolicy' | 'reportFailure'>,
  { user, password }: { readonly user: UserRecord; readonly password: string },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { passwords, vault, passwordPolicy: { maxBytes } } = dependencies;
  const purpose = passwordPurpose(user.id);
  if (!passwords.isOutdated(vault.openSecret(purpose, user.passwordHash))) return undefined;
  // One that the new algorithm would cut stays with the old one.
  if (passwordProblems(password, { minLength: 0, requireComplexity: false, maxBytes }).length > 0) return undefined;
  try {
    const passwordHash = vault.sealSecret(purpose, await passwords.hash(password));
    const { position } = await decideOnUser(dependencies, { userId: user.id, command: { kind: 'rehash_password', passwordHash, replacing: user.passwordHash } }, { ...context, actor: { kind: 'user', id: user.id } });
    return position;
  } catch (error) {
    dependencies.reportFailure('a password could not be hashed anew', error);
    return undefined;
  }
}
