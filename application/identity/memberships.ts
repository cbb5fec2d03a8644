import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import { SUPER_ADMIN, areRoleNames, distinctRoles } from '../../domain/identity/roles.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { IdentityDependencies } from './dependencies.ts';

type Needs = Pick<IdentityDependencies, 'eventStore' | 'changes' | 'reads' | 'tenants'>;

/**
 * Makes a user a member of a tenant, or replaces the roles held there; the user's sessions in that tenant end (spec 1, users, memberships).
 * In `default` the roles are those of the user: `super_admin` stays.
 * @returns the roles in force, and the position to wait for @throws `user_not_found`, `tenant_not_found`, `validation_failed`
 */
export async function grantMembership(
  dependencies: Needs,
  { userId, tenant, roles: given }: { readonly userId: string; readonly tenant: string; readonly roles: readonly string[] },
  context: CommandContext,
): Promise<{ readonly roles: readonly string[]; readonly position: GlobalPosition | undefined }> {
  const known = await dependencies.reads.userById(userId);
  if (!known) throw refusal('user_not_found');
  if (dependencies.tenants.state(tenant) === undefined) throw refusal('tenant_not_found');
  const keeps = tenant === HOME_TENANT && known.roles.includes(SUPER_ADMIN);
  const roles = distinctRoles(given).filter((role) => !(keeps && role === SUPER_ADMIN));
  if (!areRoleNames(roles)) throw refusal('validation_failed', { fields: [{ field: 'roles', message: 'role must be 1 to 64 letters, digits or _ . : -' }] });
  if (roles.includes(SUPER_ADMIN)) throw refusal('validation_failed', { fields: [{ field: 'roles', message: 'super_admin is held by users, in no tenant' }] });
  const { state, position } = await decideOnUser(dependencies, { userId, command: { kind: 'grant_membership', tenant, roles }, known }, context);
  return { roles: tenant === HOME_TENANT ? state.roles : roles, position };
}

/** Ends a membership and the user's sessions in that tenant. @returns position to wait for @throws `user_not_found`, `membership_not_found` */
export async function removeMembership(dependencies: Pick<Needs, 'eventStore' | 'changes' | 'reads'>, { userId, tenant }: { readonly userId: string; readonly tenant: string }, context: CommandContext): Promise<GlobalPosition | undefined> {
  const known = await dependencies.reads.userById(userId);
  if (!known) throw refusal('user_not_found');
  return (await decideOnUser(dependencies, { userId, command: { kind: 'remove_membership', tenant }, known }, context)).position;
}
