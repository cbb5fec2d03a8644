import { Type } from '@sinclair/typebox';
import { grantMembership } from '../../../application/identity/grant-membership.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { removeMembership } from '../../../application/identity/remove-membership.ts';
import type { MembershipDependencies } from '../../../application/identity/tenant-dependencies.ts';
import type { UserRecord } from '../../../application/ports/identity-reads.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import { refusal } from '../../../domain/errors.ts';
import { listedRoles } from '../../../domain/identity/memberships.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { Id, IdParams, Texts, Timestamp, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import { ErasableEmail, Roles, TenantSlug } from './schemas.ts';
import { sessionPrincipal } from './session-principal.ts';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['super_admin'] } } as const;

const Memberships = Type.Array(Type.Object({ tenant_id: Type.String(), name: Type.String(), roles: Texts }));
const Member = Type.Object({
  id: Id,
  email: ErasableEmail,
  roles: Texts,
  disabled: Type.Boolean(),
  joined_at: Timestamp,
});
export type MembershipRouteDependencies = MembershipDependencies & {
  readonly vault: Pick<Vault, 'openPersonalMany'>;
};

/** Memberships of users in tenants. */
export function membershipRoutes(dependencies: MembershipRouteDependencies): readonly Route[] {
  const { reads, tenants, vault } = dependencies;
  const ofUser = { ...SHARED, params: IdParams, notFound: 'user_not_found' } as const;

  async function userOf(userId: string): Promise<UserRecord> {
    const user = await reads.userById(userId);
    if (!user) throw refusal('user_not_found');
    return user;
  }

  async function present(user: UserRecord): Promise<readonly JsonObject[]> {
    const names = await reads.tenantNames(user.memberships.map(({ tenant }) => tenant));
    return user.memberships.map((membership) => ({
      tenant_id: membership.tenant,
      name: names.get(membership.tenant) ?? membership.tenant,
      roles: listedRoles(user, membership),
    }));
  }

  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/auth/memberships',
      operation: 'listOwnMemberships',
      summary: 'List the tenants of the caller, in the order of joining',
      tag: 'identity',
      access: { kind: 'session' },
      responses: { 200: Memberships },
      reads: [IDENTITY],
      handler: async ({ principal }) => ({
        status: 200,
        body: await present(await userOf(sessionPrincipal(principal).userId)),
      }),
    }),
    route({
      ...ofUser,
      method: 'GET',
      path: '/api/admin/users/{id}/memberships',
      operation: 'listMemberships',
      summary: 'List the tenants of a user, in the order of joining',
      responses: { 200: Memberships },
      refusals: ['user_not_found'],
      reads: [IDENTITY],
      handler: async ({ params }) => ({ status: 200, body: await present(await userOf(params.id)) }),
    }),
    route({
      ...ofUser,
      method: 'PUT',
      path: '/api/admin/users/{id}/memberships',
      operation: 'grantMembership',
      summary:
        "Make a user a member of a tenant, or replace the user's roles in it. Ends the user's sessions in that tenant",
      body: Type.Object({ tenant_id: TenantSlug, roles: Roles }, strict),
      responses: { 200: Type.Object({ tenant_id: Type.String(), roles: Texts }) },
      refusals: ['user_not_found', 'tenant_not_found'],
      precheck: ({ params }) => userOf(params.id),
      handler: async ({ params, body, context }) => {
        const { roles, position } = await grantMembership(
          { userId: params.id, tenant: body.tenant_id, roles: body.roles },
          context,
          dependencies,
        );
        return { status: 200, body: { tenant_id: body.tenant_id, roles }, ...commitAt(position, [IDENTITY]) };
      },
    }),
    route({
      ...ofUser,
      method: 'DELETE',
      path: '/api/admin/users/{id}/memberships/{tenant}',
      operation: 'removeMembership',
      summary: "Remove a user from a tenant. Ends the user's sessions in that tenant",
      params: Type.Object({ id: Id, tenant: Type.String() }),
      responses: { 204: null },
      refusals: ['user_not_found', 'membership_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await removeMembership({ userId: params.id, tenant: params.tenant }, context, dependencies), [
          IDENTITY,
        ]),
      }),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/tenant-members/{tenant}',
      operation: 'listTenantMembers',
      summary: 'List the members of a tenant, in the order of joining',
      params: Type.Object({ tenant: Type.String() }),
      notFound: 'tenant_not_found',
      query: PageQuery,
      responses: { 200: Type.Array(Member) },
      refusals: ['tenant_not_found'],
      precheck: ({ params }) => {
        if (tenants.state(params.tenant) === undefined) throw refusal('tenant_not_found');
      },
      reads: [IDENTITY],
      handler: async ({ params: { tenant }, query }) => {
        const members = await reads.members({ tenant, ...query });
        const emails = await vault.openPersonalMany(members.map(({ id, email }) => ({ personId: id, sealed: email })));
        const body = members.map((member, at) => ({
          id: member.id,
          email: emails[at] ?? null,
          roles: member.memberships.filter((one) => one.tenant === tenant).flatMap((one) => listedRoles(member, one)),
          disabled: member.disabled,
          joined_at: member.joinedAt.toISOString(),
        }));
        return { status: 200, body, headers: await pageHeaders(query, () => reads.countMembers(tenant)) };
      },
    }),
  ];
}
