import { SUPER_ADMIN, distinctRoles } from './roles.ts';
import type { UserEvent } from './user-events.ts';

/** The first tenant; the roles a user holds there are the user's own (spec 4 A, sign-in details). */
export const HOME_TENANT = 'default';

/** Roles in one tenant; `super_admin` is never among them. */
export type Membership = { readonly tenant: string; readonly roles: readonly string[] };

/** A user's rights: the roles of the user (those in `default`, and `super_admin`), and the memberships in the order of joining. */
export type Standing = { readonly roles: readonly string[]; readonly memberships: readonly Membership[] };

/** What an event makes of a user's rights. */
export function standingAfter(standing: Standing, event: UserEvent): Standing {
  switch (event.type) {
    case 'UserCreated': {
      const { roles, member_of: tenant } = event.data;
      return { roles: tenant === HOME_TENANT ? roles : installRoles(roles), memberships: [{ tenant, roles: tenantRoles(roles) }] };
    }
    case 'UserRolesChanged': {
      const { roles } = event.data;
      const local = tenantRoles(roles);
      const joins = local.length > 0 || isMember(standing, HOME_TENANT);
      return { roles, memberships: joins ? joined(standing.memberships, { tenant: HOME_TENANT, roles: local }) : standing.memberships };
    }
    case 'UserMembershipGranted': {
      const { tenant, roles } = event.data;
      const memberships = joined(standing.memberships, { tenant, roles });
      return { roles: tenant === HOME_TENANT ? [...installRoles(standing.roles), ...roles] : standing.roles, memberships };
    }
    case 'UserMembershipRemoved': {
      const { tenant } = event.data;
      const memberships = standing.memberships.filter((membership) => membership.tenant !== tenant);
      return { roles: tenant === HOME_TENANT ? installRoles(standing.roles) : standing.roles, memberships };
    }
    default:
      return standing;
  }
}

/** Whether the user has joined the tenant. */
export function isMember({ memberships }: Pick<Standing, 'memberships'>, tenant: string): boolean {
  return memberships.some((membership) => membership.tenant === tenant);
}

/** Roles as a membership lists them: in `default` the user's own, `super_admin` included. */
export function listedRoles(user: Pick<Standing, 'roles'>, { tenant, roles }: Membership): readonly string[] {
  return tenant === HOME_TENANT ? user.roles : roles;
}

/** The roles that hold in one tenant only. */
export function tenantRoles(roles: readonly string[]): readonly string[] {
  return distinctRoles(roles).filter((role) => role !== SUPER_ADMIN);
}

function installRoles(roles: readonly string[]): readonly string[] {
  return roles.includes(SUPER_ADMIN) ? [SUPER_ADMIN] : [];
}

/** Whoever has joined keeps the place in the order of joining. */
function joined(memberships: readonly Membership[], membership: Membership): readonly Membership[] {
  const at = memberships.findIndex(({ tenant }) => tenant === membership.tenant);
  return at < 0 ? [...memberships, membership] : memberships.with(at, membership);
}
