import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { PasswordDependencies, ReauthenticationDependencies } from './account-dependencies.ts';
import { clearFailures } from './account-lockout.ts';
import { checkPasswordPolicy } from './check-password-policy.ts';
import { decideOnUser } from './decide-on-user.ts';
import { reauthenticate } from './reauthenticate.ts';
import { passwordPurpose } from './user-secrets.ts';

export type PasswordChange = {
  readonly userId: string;
  /** The session of the request; the only session that stays open. */
  readonly sessionId: string;
  readonly currentPassword: string;
  readonly newPassword: string;
};

/**
 * Changes a user's own password; all their other sessions end.
 * @returns the position to wait for
 * @throws `invalid_password`, `weak_password`
 */
export async function changePassword(
  { userId, sessionId, currentPassword, newPassword }: PasswordChange,
  context: CommandContext,
  dependencies: ReauthenticationDependencies & Pick<PasswordDependencies, 'passwordPolicy'>,
): Promise<GlobalPosition | undefined> {
  const { passwords, vault, passwordPolicy } = dependencies;
  const user = await reauthenticate({ userId, password: currentPassword }, context, dependencies);
  checkPasswordPolicy({ password: newPassword, field: 'new_password' }, { passwordPolicy });
  const hash = await passwords.hash(newPassword);
  const passwordHash = await vault.sealPersonalSecret(userId, passwordPurpose(userId), hash);
  const command = {
    kind: 'set_password',
    passwordHash,
    reason: 'changed',
    replacing: user.passwordHash,
    keptSession: sessionId,
  } as const;
  const { position } = await decideOnUser({ userId, commandFor: () => command, current: user }, context, dependencies);
  await clearFailures({ userId }, dependencies);
  return position;
}
