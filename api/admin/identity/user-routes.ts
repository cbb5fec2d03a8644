import { Type } from '@sinclair/typebox';
import { deleteUser, setUserRoles, setUserState } from '../../../application/identity/change-user.ts';
import { createUser } from '../../../application/identity/create-user.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { rolesOf } from '../../../application/identity/session-standing.ts';
import { setUserPassword } from '../../../application/identity/set-user-password.ts';
import { refusal } from '../../../domain/errors.ts';
import type { GlobalPosition } from '../../../domain/event.ts';
import type { Answer, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { commitAt } from './credentials-answer.ts';
import { Page, pageHeaders } from './paging.ts';
import { User, presentUsers } from './present-user.ts';

const Id = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Roles = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 });
const Password = Type.String({ maxLength: 4096 });

const strict = { additionalProperties: false };

/** Users of the install (spec 1, users; super_admin). */
export function userRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const { reads, vault, progress } = dependencies;
  const shared = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['super_admin'] } } as const;
  const one = { ...shared, params: Id, notFound: 'user_not_found', precheck: existing } as const;

  /** A missing user wins over a bad body (spec 4 A, order of refusals). */
  async function existing({ params }: { readonly params: { readonly id: string } }): Promise<void> {
    if (!(await reads.userById(params.id))) throw refusal('user_not_found');
  }

  /** The user as the write left it. */
  async function changed(userId: string, position: GlobalPosition | undefined): Promise<Answer> {
    if (position !== undefined) await progress.waitFor(['identity'], position, 5_000);
    const user = await reads.userById(userId);
    if (!user) throw refusal('user_not_found');
    const [body] = await presentUsers([user], vault);
    return { status: 200, body, ...commitAt(position) };
  }

  return [
    route({
      ...shared, method: 'GET', path: '/api/admin/users', operation: 'listUsers', grants: ['users:read'], summary: 'Users, oldest first',
      query: Page, answers: { 200: Type.Array(User) }, reads: ['identity'],
      handler: async ({ query, principal, tenant }) => {
        // A token acts in its tenant: of the install's users it sees the members there, with their roles there.
        if (principal?.kind === 'admin_token') {
          const members = (await reads.members({ tenant, ...query })).map((member) => ({ ...member, roles: rolesOf(member, tenant) }));
          return { status: 200, body: await presentUsers(members, vault), headers: await pageHeaders(query, () => reads.countMembers(tenant)) };
        }
        return { status: 200, body: await presentUsers(await reads.users(query), vault), headers: await pageHeaders(query, reads.countUsers) };
      },
    }),
    route({
      ...shared, method: 'POST', path: '/api/admin/users', operation: 'createUser', summary: 'Makes an account, a member of a tenant (the default one unless another is named), with its roles there',
      body: Type.Object({ email: Type.String({ maxLength: 320 }), password: Password, roles: Type.Optional(Roles), tenant_id: Type.Optional(Type.String({ maxLength: 63 })) }, strict),
      answers: { 201: User }, refusals: ['user_exists', 'weak_password', 'tenant_not_found'],
      handler: async ({ body: { email, password, roles = [], tenant_id: tenant }, context }) => {
        const created = await createUser(dependencies, { email, password, roles, tenant }, context);
        const { id, createdAt, position } = created;
        return {
          status: 201,
          body: { id, email: created.email, roles: created.roles, disabled: false, mfa_enabled: false, created_at: createdAt, updated_at: createdAt, last_login_at: null },
          ...commitAt(position),
        };
      },
    }),
    route({
      ...one, method: 'PUT', path: '/api/admin/users/{id}/roles', operation: 'setUserRoles', summary: 'Replaces the roles; sessions end',
      body: Type.Object({ roles: Roles }, strict),
      answers: { 200: User }, refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, body, context }) => changed(params.id, await setUserRoles(dependencies, { userId: params.id, roles: body.roles }, context)),
    }),
    route({
      ...one, method: 'PUT', path: '/api/admin/users/{id}/state', operation: 'setUserState', summary: 'Disables or enables; sessions end',
      body: Type.Object({ disabled: Type.Boolean() }, strict),
      answers: { 200: User }, refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, body, context }) => changed(params.id, await setUserState(dependencies, { userId: params.id, disabled: body.disabled }, context)),
    }),
    route({
      ...one, method: 'PUT', path: '/api/admin/users/{id}/password', operation: 'setUserPassword', summary: 'Sets the password; sessions end',
      body: Type.Object({ password: Password }, strict),
      answers: { 204: null }, refusals: ['user_not_found', 'weak_password'],
      handler: async ({ params, body, context }) => ({
        status: 204, ...commitAt(await setUserPassword(dependencies, { userId: params.id, password: body.password }, context)),
      }),
    }),
    route({
      ...one, method: 'DELETE', path: '/api/admin/users/{id}', operation: 'deleteUser', summary: 'Deletes; sessions end, the address is free again',
      answers: { 204: null }, refusals: ['user_not_found', 'last_super_admin'],
      handler: async ({ params, context }) => ({ status: 204, ...commitAt(await deleteUser(dependencies, { userId: params.id }, context)) }),
    }),
  ];
}
