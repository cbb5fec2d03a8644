import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { checkPassword } from './check-password.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { forgetFailures } from './lockout.ts';
import { passwordPurpose, resetDigest } from './user-secrets.ts';

/**
 * Sets a new password by a mailed token; every session ends (spec 4 A, password reset). A token is good for the one password that was there when
 * it was asked for: once that is replaced, by this token or otherwise, it is worthless. So it works once, and survives a crash on the way.
 * @returns position to wait for
 * @throws `invalid_reset_token`, `weak_password` (the token stays good)
 */
export async function confirmPasswordReset(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'passwords' | 'vault' | 'passwordPolicy' | 'passwordResets' | 'rateCounters'>,
  { token, password }: { readonly token: string; readonly password: string },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { reads, passwords, vault, passwordPolicy, passwordResets } = dependencies;
  const reset = await passwordResets.find(resetDigest(vault, token), context.now());
  const known = reset && (await reads.userById(reset.userId));
  if (!known || known.disabled || known.passwordHash.n !== reset.passwordMark) throw refusal('invalid_reset_token');
  checkPassword(password, passwordPolicy);
  const userId = known.id;
  const passwordHash = vault.sealSecret(passwordPurpose(userId), await passwords.hash(password));
  const { position } = await decideOnUser(
    dependencies,
    { userId, command: { kind: 'set_password', passwordHash, reason: 'reset', replacing: known.passwordHash }, known },
    { ...context, actor: { kind: 'user', id: userId } },
  );
  await passwordResets.forget(userId);
  await forgetFailures(dependencies, userId);
  return position;
}
