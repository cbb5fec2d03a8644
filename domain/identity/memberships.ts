import { SUPER_ADMIN, distinctRoles } from './roles.ts';
import type { UserEvent } from './user-events.ts';

/** The default tenant. The roles that a user has there are the user's own roles. */
export const DEFAULT_TENANT = 'default';

/** Roles in one tenant; never `super_admin`. */
export type Membership = { readonly tenant: string; readonly roles: readonly string[] };

/** A user's own roles (those in the default tenant, and `super_admin`), and the memberships in the order of joining. */
export type UserRights = { readonly roles: readonly string[]; readonly memberships: readonly Membership[] };

/** The user's rights after an event. */
export function rightsAfter(rights: UserRights, event: UserEvent): UserRights {
  switch (event.type) {
    case 'UserCreated': {
      const { roles, member_of: tenant } = event.data;
      return {
        roles: tenant === DEFAULT_TENANT ? roles : installRoles(roles),
        memberships: [{ tenant, roles: tenantRoles(roles) }],
      };
    }
    case 'UserRolesChanged': {
      const { roles } = event.data;
      const local = tenantRoles(roles);
      const joinsDefault = local.length > 0 || isMember(rights, DEFAULT_TENANT);
      return {
        roles,
        memberships: joinsDefault
          ? withMembership(rights.memberships, { tenant: DEFAULT_TENANT, roles: local })
          : rights.memberships,
      };
    }
    case 'UserMembershipGranted': {
      const { tenant, roles } = event.data;
      const memberships = withMembership(rights.memberships, { tenant, roles });
      return {
        roles: tenant === DEFAULT_TENANT ? [...installRoles(rights.roles), ...roles] : rights.roles,
        memberships,
      };
    }
    case 'UserMembershipRemoved': {
      const { tenant } = event.data;
      const memberships = rights.memberships.filter((membership) => membership.tenant !== tenant);
      return { roles: tenant === DEFAULT_TENANT ? installRoles(rights.roles) : rights.roles, memberships };
    }
    default:
      return rights;
  }
}

/** Whether the user has joined the tenant. */
export function isMember({ memberships }: Pick<UserRights, 'memberships'>, tenant: string): boolean {
  return memberships.some((membership) => membership.tenant === tenant);
}

/** Whether the user may act in the tenant: as a member, or as a super admin of the installation. */
export function belongsTo(user: UserRights, tenant: string): boolean {
  return isMember(user, tenant) || user.roles.includes(SUPER_ADMIN);
}

/** Roles of a membership for display: in the default tenant the user's own roles, including `super_admin`. */
export function listedRoles(user: Pick<UserRights, 'roles'>, { tenant, roles }: Membership): readonly string[] {
  return tenant === DEFAULT_TENANT ? user.roles : roles;
}

/** The roles that belong to a membership: all except `super_admin`, without repeats. */
function tenantRoles(roles: readonly string[]): readonly string[] {
  return distinctRoles(roles).filter((role) => role !== SUPER_ADMIN);
}

function installRoles(roles: readonly string[]): readonly string[] {
  return roles.includes(SUPER_ADMIN) ? [SUPER_ADMIN] : [];
}

/** Adds or replaces a membership. A member keeps their place in the order of joining. */
function withMembership(memberships: readonly Membership[], membership: Membership): readonly Membership[] {
  const at = memberships.findIndex(({ tenant }) => tenant === membership.tenant);
  return at < 0 ? [...memberships, membership] : memberships.with(at, membership);
}
