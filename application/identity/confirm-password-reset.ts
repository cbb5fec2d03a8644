import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { PasswordResets } from '../ports/password-resets.ts';
import type { SetPasswordDependencies } from './account-dependencies.ts';
import { clearFailures } from './account-lockout.ts';
import { checkPasswordPolicy } from './check-password-policy.ts';
import { decideOnUser } from './decide-on-user.ts';
import { passwordPurpose, resetDigest } from './user-secrets.ts';

/**
 * Sets a new password with a mailed token; every session ends. A token is bound to the password hash in force when it
 * was requested, so it works once and stops working when the password changes otherwise, also after a crash.
 * @returns the position to wait for
 * @throws `invalid_reset_token`, `weak_password` (the token stays valid)
 */
export async function confirmPasswordReset(
  { token, password }: { readonly token: string; readonly password: string },
  context: CommandContext,
  dependencies: SetPasswordDependencies & { readonly passwordResets: PasswordResets },
): Promise<GlobalPosition | undefined> {
  const { reads, passwords, vault, passwordPolicy, passwordResets } = dependencies;
  const reset = await passwordResets.find(resetDigest({ token }, { vault }), context.now());
  const user = reset && (await reads.userById(reset.userId));
  if (!user || user.disabled || user.passwordHash.n !== reset.passwordMark) throw refusal('invalid_reset_token');
  checkPasswordPolicy({ password }, { passwordPolicy });
  const userId = user.id;
  const hash = await passwords.hash(password);
  const passwordHash = await vault.sealPersonalSecret(userId, passwordPurpose(userId), hash);
  const { position } = await decideOnUser(
    {
      userId,
      commandFor: () => ({ kind: 'set_password', passwordHash, reason: 'reset', replacing: user.passwordHash }),
      current: user,
    },
    { ...context, actor: { kind: 'user', id: userId } },
    dependencies,
  );
  await passwordResets.delete(userId);
  await clearFailures({ userId }, dependencies);
  return position;
}
