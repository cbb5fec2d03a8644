import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { areRoleNames } from '../../domain/identity/roles.ts';
import type { UserCommand } from '../../domain/identity/user.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import { aloneAndCaughtUp } from './caught-up.ts';
import { decideOnUser, userStream } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';
import type { UserRecord } from './identity-reads.ts';
import { emailClaim } from './user-claims.ts';

type Needs = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'exclusive' | 'progress'>;

type CountingCommand = {
  readonly userId: string;
  readonly command: (otherSuperAdmins: number) => UserCommand;
  /** Runs before the decision. */
  readonly before?: (known: UserRecord | undefined) => Promise<void>;
};

/** Replaces a user's roles; their sessions end. @returns position to wait for @throws `user_not_found`, `validation_failed`, `last_super_admin` */
export async function setUserRoles(dependencies: Needs, { userId, roles }: { readonly userId: string; readonly roles: readonly string[] }, context: CommandContext): Promise<GlobalPosition | undefined> {
  if (!areRoleNames(roles)) {
    throw refusal('validation_failed', { fields: [{ field: 'roles', message: 'role must be 1 to 64 letters, digits or _ . : -' }] });
  }
  return countingSuperAdmins(dependencies, { userId, command: (otherSuperAdmins) => ({ kind: 'set_roles', roles, otherSuperAdmins }) }, context);
}

/** Disables or enables a user; disabling ends their sessions. @returns position to wait for @throws `user_not_found`, `last_super_admin` */
export async function setUserState(dependencies: Needs, { userId, disabled }: { readonly userId: string; readonly disabled: boolean }, context: CommandContext): Promise<GlobalPosition | undefined> {
  return countingSuperAdmins(dependencies, { userId, command: (otherSuperAdmins) => ({ kind: 'set_disabled', disabled, otherSuperAdmins }) }, context);
}

/** Deletes a user; the address is free again. @returns position to wait for @throws `user_not_found`, `last_super_admin` */
export async function deleteUser(dependencies: Needs & Pick<IdentityDependencies, 'claims' | 'vault'>, { userId }: { readonly userId: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  const { vault, claims } = dependencies;
  const owner = userStream(userId);
  let released: readonly ClaimRequest[] = [];
  const before = async (known: UserRecord | undefined): Promise<void> => {
    const email = known && (await vault.openPersonal(userId, known.email));
    if (email === undefined) return;
    released = [emailClaim(email)];
    await claims.claim(owner, [], released);
  };
  const position = await countingSuperAdmins(dependencies, { userId, before, command: (otherSuperAdmins) => ({ kind: 'delete', otherSuperAdmins }) }, context);
  // What this leaves undone the claims' reaper does, which asks the stream.
  await claims.confirm(owner, [], released).catch(() => undefined);
  return position;
}

/** One decision at a time over who is super admin: two that each take the other's role away can't both win. */
function countingSuperAdmins(dependencies: Needs, { userId, command, before }: CountingCommand, context: CommandContext): Promise<GlobalPosition | undefined> {
  const { reads } = dependencies;
  return aloneAndCaughtUp(dependencies, 'super-admins', async () => {
    const known = await reads.userById(userId);
    await before?.(known);
    return (await decideOnUser(dependencies, { userId, command: command(await reads.otherSuperAdmins(userId)), known }, context)).position;
  });
}
