import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ChangeUserDependencies } from './account-dependencies.ts';
import { decideWithSuperAdminCount } from './decide-with-super-admin-count.ts';

/**
 * Disables or enables a user; disabling ends their sessions.
 * @returns the position to wait for
 * @throws `user_not_found`, `last_super_admin`
 */
export function setUserState(
  { userId, disabled }: { readonly userId: string; readonly disabled: boolean },
  context: CommandContext,
  dependencies: ChangeUserDependencies,
): Promise<GlobalPosition | undefined> {
  return decideWithSuperAdminCount(
    { userId, commandFor: (otherSuperAdmins) => ({ kind: 'set_disabled', disabled, otherSuperAdmins }) },
    context,
    dependencies,
  );
}
