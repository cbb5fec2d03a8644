import type { CommandContext } from '../../domain/context.ts';
import { invalidField } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { ROLE_NAME_PROBLEM } from '../../domain/identity/principal.ts';
import { areRoleNames } from '../../domain/identity/roles.ts';
import type { ChangeUserDependencies } from './account-dependencies.ts';
import { decideWithSuperAdminCount } from './decide-with-super-admin-count.ts';

/**
 * Replaces a user's roles; their sessions end.
 * @returns the position to wait for
 * @throws `user_not_found`, `validation_failed`, `last_super_admin`
 */
export async function setUserRoles(
  { userId, roles }: { readonly userId: string; readonly roles: readonly string[] },
  context: CommandContext,
  dependencies: ChangeUserDependencies,
): Promise<GlobalPosition | undefined> {
  if (!areRoleNames(roles)) {
    throw invalidField('roles', ROLE_NAME_PROBLEM);
  }
  return decideWithSuperAdminCount(
    { userId, commandFor: (otherSuperAdmins) => ({ kind: 'set_roles', roles, otherSuperAdmins }) },
    context,
    dependencies,
  );
}
