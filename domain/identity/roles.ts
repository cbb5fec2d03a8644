import { ROLE_NAME } from './principal.ts';

export const SUPER_ADMIN = 'super_admin';

/** Admin roles. API keys with an admin role skip scope checks and must expire. */
const ADMIN_ROLES: readonly string[] = [SUPER_ADMIN, 'admin'];

/** Writes of content need one of these roles, even if access rules allow a custom role to write. */
export const CONTENT_WRITERS: readonly string[] = ['editor', ...ADMIN_ROLES];

/** Roles without repeats, in the given order. */
export function distinctRoles(roles: readonly string[]): readonly string[] {
  return [...new Set(roles)];
}

/** Whether every name has the form of a role name. */
export function areRoleNames(roles: readonly string[]): boolean {
  return roles.every((role) => ROLE_NAME.test(role));
}

/** Whether two lists contain the same roles, in any order. */
export function sameRoles(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((role) => right.has(role));
}

/** Whether the creator of an API key may grant the roles: only roles that they hold, unless they are a super admin. */
export function mayGrant(creator: { readonly roles: readonly string[] }, roles: readonly string[]): boolean {
  return creator.roles.includes(SUPER_ADMIN) || roles.every((role) => creator.roles.includes(role));
}

/** Whether one of the roles is admin or super_admin. */
export function hasAdminRole(roles: readonly string[]): boolean {
  return roles.some((role) => ADMIN_ROLES.includes(role));
}

/**
 * Roles in force in a tenant: those of the membership, and `super_admin`, which belongs to the user and holds in every
 * tenant.
 */
export function rolesInTenant(userRoles: readonly string[], membershipRoles: readonly string[]): readonly string[] {
  const local = membershipRoles.filter((role) => role !== SUPER_ADMIN);
  return userRoles.includes(SUPER_ADMIN) ? [SUPER_ADMIN, ...local] : local;
}
