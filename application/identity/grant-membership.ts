import type { CommandContext } from '../../domain/context.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { ROLE_NAME_PROBLEM } from '../../domain/identity/principal.ts';
import { SUPER_ADMIN, areRoleNames, distinctRoles } from '../../domain/identity/roles.ts';
import { decideOnUser } from './decide-on-user.ts';
import type { MembershipDependencies } from './tenant-dependencies.ts';

/**
 * Makes a user a member of a tenant, or replaces the member's roles; the user's sessions in that tenant end. In the
 * default tenant the roles are the user's own roles, and a super admin stays one.
 * @returns the roles in force, and the position to wait for
 * @throws `user_not_found`, `tenant_not_found`, `validation_failed`
 */
export async function grantMembership(
  {
    userId,
    tenant,
    roles: requestedRoles,
  }: { readonly userId: string; readonly tenant: string; readonly roles: readonly string[] },
  context: CommandContext,
  dependencies: MembershipDependencies,
): Promise<{ readonly roles: readonly string[]; readonly position: GlobalPosition | undefined }> {
  const user = await dependencies.reads.userById(userId);
  if (!user) throw refusal('user_not_found');
  if (dependencies.tenants.state(tenant) === undefined) throw refusal('tenant_not_found');
  const keepsSuperAdmin = tenant === DEFAULT_TENANT && user.roles.includes(SUPER_ADMIN);
  const roles = distinctRoles(requestedRoles).filter((role) => !(keepsSuperAdmin && role === SUPER_ADMIN));
  if (!areRoleNames(roles)) throw invalidField('roles', ROLE_NAME_PROBLEM);
  if (roles.includes(SUPER_ADMIN)) throw invalidField('roles', 'super_admin is held by users, in no tenant');
  const { state, position } = await decideOnUser(
    { userId, commandFor: () => ({ kind: 'grant_membership', tenant, roles }), current: user },
    context,
    dependencies,
  );
  return { roles: state && tenant === DEFAULT_TENANT ? state.roles : roles, position };
}
