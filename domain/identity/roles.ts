import { ROLE_NAME } from './principal.ts';

export const SUPER_ADMIN = 'super_admin';

/** Roles that keep a credential out of the plain rules: admin-role keys skip scopes and must expire (spec 1, API key checks). */
export const ADMIN_ROLES: readonly string[] = [SUPER_ADMIN, 'admin'];

/** Roles of which a write of content needs one, custom roles notwithstanding (spec 1, Endpoints). */
export const CONTENT_WRITERS: readonly string[] = ['editor', ...ADMIN_ROLES];

/** Roles without repeats, in the order given. */
export function distinctRoles(roles: readonly string[]): readonly string[] {
  return [...new Set(roles)];
}

/** Whether every name is one of the role grammar. */
export function areRoleNames(roles: readonly string[]): boolean {
  return roles.every((role) => ROLE_NAME.test(role));
}

/** Whether two lists name the same roles. */
export function sameRoles(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((role) => right.has(role));
}

/** Whether a key may be given the roles: only those that its maker holds, unless the maker is a super admin (spec 1, key management). */
export function mayGrant(maker: { readonly roles: readonly string[] }, roles: readonly string[]): boolean {
  return maker.roles.includes(SUPER_ADMIN) || roles.every((role) => maker.roles.includes(role));
}

/** Whether one of the roles is admin or super_admin. */
export function hasAdminRole(roles: readonly string[]): boolean {
  return roles.some((role) => ADMIN_ROLES.includes(role));
}

/**
 * Roles in force in a tenant: those of the membership, and `super_admin`, which is install-wide and only ever on the user
 * (spec 4 A, sign-in details).
 */
export function rolesInTenant(userRoles: readonly string[], membershipRoles: readonly string[]): readonly string[] {
  const local = membershipRoles.filter((role) => role !== SUPER_ADMIN);
  return userRoles.includes(SUPER_ADMIN) ? [SUPER_ADMIN, ...local] : local;
}
