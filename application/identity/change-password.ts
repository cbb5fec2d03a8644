import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { checkPassword } from './check-password.ts';
import type { ConfirmationDependencies } from './confirm-person.ts';
import { confirmPerson } from './confirm-person.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import { forgetFailures } from './lockout.ts';
import { passwordPurpose } from './user-secrets.ts';

/** `sessionId`: the session that goes on. */
export type PasswordChange = { readonly userId: string; readonly sessionId: string; readonly currentPassword: string; readonly newPassword: string };

/** Changes one's own password; all other sessions end (spec 4 A, sign-in details). @returns position to wait for @throws `invalid_password`, `weak_password` */
export async function changePassword(
  dependencies: ConfirmationDependencies & Pick<IdentityDependencies, 'passwordPolicy'>,
  { userId, sessionId, currentPassword, newPassword }: PasswordChange,
  context: CommandContext,
): Promise<GlobalPosition | undefined> {
  const { passwords, vault, passwordPolicy } = dependencies;
  const known = await confirmPerson(dependencies, { userId, password: currentPassword }, context);
  checkPassword(newPassword, passwordPolicy, 'new_password');
  const passwordHash = vault.sealSecret(passwordPurpose(userId), await passwords.hash(newPassword));
  const command = { kind: 'set_password', passwordHash, reason: 'changed', replacing: known.passwordHash, keptSession: sessionId } as const;
  const { position } = await decideOnUser(dependencies, { userId, command, known }, context);
  await forgetFailures(dependencies, userId);
  return position;
}
