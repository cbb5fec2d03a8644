import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { areRoleNames } from '../../domain/identity/roles.ts';
import type { UserCommand } from '../../domain/identity/user.ts';
import { aloneAndCaughtUp } from './caught-up.ts';
import { decideOnUser, userStream } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { emailClaim } from './user-claims.ts';

type Needs = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'exclusive' | 'progress'>;

/** Replaces a user's roles; their sessions end. @returns position to wait for @throws `user_not_found`, `validation_failed`, `last_super_admin` */
export async function setUserRoles(dependencies: Needs, { userId, roles }: { readonly userId: string; readonly roles: readonly string[] }, context: CommandContext): Promise<GlobalPosition | undefined> {
  if (!areRoleNames(roles)) {
    throw refusal('validation_failed', { fields: [{ field: 'roles', message: 'role must be 1 to 64 letters, digits or _ . : -' }] });
  }
  return (await countingSuperAdmins(dependencies, userId, (otherSuperAdmins) => ({ kind: 'set_roles', roles, otherSuperAdmins }), context)).position;
}

/** Disables or enables a user; disabling ends their sessions. @returns position to wait for @throws `user_not_found`, `last_super_admin` */
export async function setUserState(dependencies: Needs, { userId, disabled }: { readonly userId: string; readonly disabled: boolean }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return (await countingSuperAdmins(dependencies, userId, (otherSuperAdmins) => ({ kind: 'set_disabled', disabled, otherSuperAdmins }), context)).position;
}

/** Deletes a user; the address is free again. @returns position to wait for @throws `user_not_found`, `last_super_admin` */
export async function deleteUser(dependencies: Needs & Pick<IdentityDependencies, 'claims' | 'vault'>, { userId }: { readonly userId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  const { vault, claims } = dependencies;
  const { position, known } = await countingSuperAdmins(dependencies, userId, (otherSuperAdmins) => ({ kind: 'delete', otherSuperAdmins }), context);
  const email = known && (await vault.openPersonal(userId, known.email));
  if (email !== undefined) await claims.confirm(userStream(userId), [], [emailClaim(email)]);
  return position;
}

/** One decision at a time over who is super admin: two that each take the other's role away can't both win. */
function countingSuperAdmins(dependencies: Needs, userId: string, command: (otherSuperAdmins: number) => UserCommand, context: CommandContext): Promise<{ readonly position: GlobalPosition | undefined; readonly known: UserRecord | undefined }> {
  const { reads } = dependencies;
  return aloneAndCaughtUp(dependencies, 'super-admins', async () => {
    const known = await reads.userById(userId);
    const { position } = await decideOnUser(dependencies, { userId, command: command(await reads.otherSuperAdmins(userId)), known }, context);
    return { position, known };
  });
}
