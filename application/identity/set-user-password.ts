import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { checkPassword } from './check-password.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { forgetFailures } from './lockout.ts';
import { passwordPurpose } from './user-secrets.ts';

/** Sets a user's password; all their sessions end. @returns position to wait for @throws `user_not_found`, `weak_password` */
export async function setUserPassword(
  dependencies: Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'passwords' | 'vault' | 'passwordPolicy' | 'rateCounters'>,
  { userId, password }: { readonly userId: string; readonly password: string },
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { reads, passwords, vault, passwordPolicy } = dependencies;
  const known = await reads.userById(userId);
  if (!known) throw refusal('user_not_found');
  checkPassword(password, passwordPolicy);
  const passwordHash = vault.sealSecret(passwordPurpose(userId), await passwords.hash(password));
  const { position } = await decideOnUser(dependencies, { userId, command: { kind: 'set_password', passwordHash, reason: 'set' }, known }, context);
  await forgetFailures(dependencies, userId);
  return position;
}
