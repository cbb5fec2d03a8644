import { Type } from '@sinclair/typebox';
import type {
  ChangeUserDependencies,
  CreateUserDependencies,
  SetPasswordDependencies,
} from '../../../application/identity/account-dependencies.ts';
import { createUser } from '../../../application/identity/create-user.ts';
import { deleteUser } from '../../../application/identity/delete-user.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { rolesOfUserIn } from '../../../application/identity/session-validity.ts';
import { setUserPassword } from '../../../application/identity/set-user-password.ts';
import { setUserRoles } from '../../../application/identity/set-user-roles.ts';
import { setUserState } from '../../../application/identity/set-user-state.ts';
import { refusal } from '../../../domain/errors.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, type RouteResponse, route } from '../../http/route.ts';
import { IdParams, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import { User, presentUsers } from './present-user.ts';
import { Email, Password, Roles, TenantSlug } from './schemas.ts';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['super_admin'] } } as const;

export type UserRouteDependencies = CreateUserDependencies & ChangeUserDependencies & SetPasswordDependencies;

/** Users of the installation. The routes need a session of a super admin. */
export function userRoutes(dependencies: UserRouteDependencies): readonly Route[] {
  const { reads, vault, progress } = dependencies;
  const one = { ...SHARED, params: IdParams, notFound: 'user_not_found', precheck: existing } as const;

  /** @throws `user_not_found` */
  async function existing({ params }: { readonly params: { readonly id: string } }): Promise<void> {
    if (!(await reads.userById(params.id))) throw refusal('user_not_found');
  }

  /** The user after the write. Waits at most 5 s for the read model. */
  async function changed(userId: string, position: GlobalPosition | undefined): Promise<RouteResponse> {
    if (position !== undefined) await progress.waitFor([IDENTITY], position, 5_000);
    const user = await reads.userById(userId);
    if (!user) throw refusal('user_not_found');
    const [body] = await presentUsers([user], vault);
    return { status: 200, body, ...commitAt(position, [IDENTITY]) };
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/users',
      operation: 'listUsers',
      summary: 'List users, oldest first',
      grants: ['users:read'],
      query: PageQuery,
      responses: { 200: Type.Array(User) },
      reads: [IDENTITY],
      handler: async ({ query, principal, tenant }) => {
        // An admin token sees only the members of its tenant, with their roles in it.
        if (principal?.kind === 'admin_token') {
          const members = (await reads.members({ tenant, ...query })).map((member) => ({
            ...member,
            roles: rolesOfUserIn(member, tenant),
          }));
          return {
            status: 200,
            body: await presentUsers(members, vault),
            headers: await pageHeaders(query, () => reads.countMembers(tenant)),
          };
        }
        return {
          status: 200,
          body: await presentUsers(await reads.users(query), vault),
          headers: await pageHeaders(query, reads.countUsers),
        };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/users',
      operation: 'createUser',
      summary: 'Create a user as a member of a tenant (by default the default tenant) with roles in it',
      body: Type.Object(
        {
          email: Email,
          password: Password,
          roles: Type.Optional(Roles),
          tenant_id: Type.Optional(TenantSlug),
        },
        strict,
      ),
      responses: { 201: User },
      refusals: ['user_exists', 'weak_password', 'tenant_not_found'],
      handler: async ({ body: { email, password, roles = [], tenant_id: tenant }, context }) => {
        const created = await createUser({ email, password, roles, tenant }, context, dependencies);
        const { id, createdAt, position } = created;
        return {
          status: 201,
          body: {
            id,
            email: created.email,
            roles: created.roles,
            disabled: false,
            mfa_enabled: false,
            created_at: createdAt,
            updated_at: createdAt,
            last_login_at: null,
          },
          ...commitAt(position, [IDENTITY]),
        };
      },
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/users/{id}/roles',
      operation: 'setUserRoles',
      summary: "Replace the roles of a user. Ends the user's sessions",
      body: Type.Object({ roles: Roles }, strict),
      responses: { 200: User },
      refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, body, context }) =>
        changed(params.id, await setUserRoles({ userId: params.id, roles: body.roles }, context, dependencies)),
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/users/{id}/state',
      operation: 'setUserState',
      summary: "Disable or enable a user. Ends the user's sessions",
      body: Type.Object({ disabled: Type.Boolean() }, strict),
      responses: { 200: User },
      refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, body, context }) =>
        changed(params.id, await setUserState({ userId: params.id, disabled: body.disabled }, context, dependencies)),
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/users/{id}/password',
      operation: 'setUserPassword',
      summary: "Set the password of a user. Ends the user's sessions",
      body: Type.Object({ password: Password }, strict),
      responses: { 204: null },
      refusals: ['user_not_found', 'weak_password'],
      handler: async ({ params, body, context }) => ({
        status: 204,
        ...commitAt(await setUserPassword({ userId: params.id, password: body.password }, context, dependencies), [
          IDENTITY,
        ]),
      }),
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/users/{id}',
      operation: 'deleteUser',
      summary: "Delete a user. Ends the user's sessions and frees the e-mail address",
      responses: { 204: null },
      refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await deleteUser({ userId: params.id }, context, dependencies), [IDENTITY]),
      }),
    }),
  ];
}
