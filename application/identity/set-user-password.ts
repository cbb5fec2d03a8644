import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { SetPasswordDependencies } from './account-dependencies.ts';
import { clearFailures } from './account-lockout.ts';
import { checkPasswordPolicy } from './check-password-policy.ts';
import { decideOnUser } from './decide-on-user.ts';
import { passwordPurpose } from './user-secrets.ts';

/**
 * Sets a user's password without the current one; all their sessions end.
 * @returns the position to wait for
 * @throws `user_not_found`, `weak_password`
 */
export async function setUserPassword(
  { userId, password }: { readonly userId: string; readonly password: string },
  context: CommandContext,
  dependencies: SetPasswordDependencies,
): Promise<GlobalPosition | undefined> {
  const { reads, passwords, vault, passwordPolicy } = dependencies;
  const user = await reads.userById(userId);
  if (!user) throw refusal('user_not_found');
  checkPasswordPolicy({ password }, { passwordPolicy });
  const hash = await passwords.hash(password);
  const passwordHash = await vault.sealPersonalSecret(userId, passwordPurpose(userId), hash);
  const { position } = await decideOnUser(
    { userId, commandFor: () => ({ kind: 'set_password', passwordHash, reason: 'set' }), current: user },
    context,
    dependencies,
  );
  await clearFailures({ userId }, dependencies);
  return position;
}
