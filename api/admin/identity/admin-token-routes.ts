import { Type } from '@sinclair/typebox';
import { type IssuedAdminToken, createAdminToken } from '../../../application/identity/create-admin-token.ts';
import type { AdminTokenDependencies } from '../../../application/identity/credential-dependencies.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { revokeAdminToken } from '../../../application/identity/revoke-admin-token.ts';
import { rotateAdminToken } from '../../../application/identity/rotate-admin-token.ts';
import type { ApiKeyRequests } from '../../../application/ports/api-key-requests.ts';
import type { AdminTokenRecord } from '../../../application/ports/identity-reads.ts';
import { refusal } from '../../../domain/errors.ts';
import { ADMIN_GRANTS, ADMIN_GRANT_NAMES } from '../../../domain/identity/admin-grants.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type IdRequest, type Route, type RouteResponse, route } from '../../http/route.ts';
import { Id, IdParams, NullableTimestamp, Texts, Timestamp, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import { confirmation } from './schemas.ts';
import { sessionPrincipal } from './session-principal.ts';
import { timeOf } from './time-of.ts';

const SHARED = {
  api: 'admin',
  tag: 'identity',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
} as const;

const Expiry = Type.Optional(NullableTimestamp);
const NewTokenBody = Type.Object(
  {
    name: Type.String(),
    grants: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }),
    expires_at: Expiry,
    ...confirmation,
  },
  strict,
);
const RotateBody = Type.Object({ expires_at: Expiry, ...confirmation }, strict);

const tokenFields = {
  id: Id,
  name: Type.String(),
  grants: Texts,
  tenant_id: Type.String(),
  created_by: Type.String(),
  created_at: Timestamp,
  expires_at: Timestamp,
  last_used_at: NullableTimestamp,
  revoked: Type.Boolean(),
};
const AdminToken = Type.Object(tokenFields);
const AdminTokenWithSecret = Type.Object({ ...tokenFields, raw_token: Type.String() });
const Grant = Type.Object({ name: Type.String(), description: Type.String(), routes: Texts });
const LoggedRequest = Type.Object({
  id: Id,
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
  ip: Type.String(),
  ts: Timestamp,
});

export type AdminTokenRouteDependencies = AdminTokenDependencies & {
  readonly apiKeyRequests: ApiKeyRequests;
  /** All routes of this installation. */
  readonly routes: () => readonly Route[];
};

/** Admin tokens of the tenant. */
export function adminTokenRoutes(dependencies: AdminTokenRouteDependencies): readonly Route[] {
  const { reads, apiKeyRequests, routes } = dependencies;
  const one = {
    ...SHARED,
    params: IdParams,
    notFound: 'admin_token_not_found',
    precheck: existing,
  } as const;
  const unconfirmed = ['confirmation_required', 'invalid_password', 'invalid_code'] as const;

  /** @throws `admin_token_not_found` */
  async function existing({ params, tenant }: IdRequest): Promise<void> {
    if (!(await reads.adminTokenById({ tenant, tokenId: params.id }))) throw refusal('admin_token_not_found');
  }

  async function issued({ token, rawToken, position }: IssuedAdminToken): Promise<RouteResponse> {
    const used = await apiKeyRequests.lastUsed({ tenant: token.tenant, ids: [token.id] });
    return {
      status: 201,
      body: { ...present(token, used), raw_token: rawToken },
      headers: { 'Cache-Control': 'no-store' },
      ...commitAt(position, [IDENTITY]),
    };
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/admin-tokens',
      operation: 'listAdminTokens',
      summary: 'List the admin tokens of the tenant, newest first, without their secrets',
      query: PageQuery,
      responses: { 200: Type.Array(AdminToken) },
      reads: [IDENTITY],
      handler: async ({ query, tenant }) => {
        const tokens = await reads.adminTokens({ tenant, limit: query.limit, offset: query.offset });
        const used = await apiKeyRequests.lastUsed({ tenant, ids: tokens.map(({ id }) => id) });
        return {
          status: 200,
          body: tokens.map((token) => present(token, used)),
          headers: await pageHeaders(query, () => reads.countAdminTokens(tenant)),
        };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/admin-tokens',
      operation: 'createAdminToken',
      summary: 'Create an admin token. Only this response contains its secret',
      body: NewTokenBody,
      responses: { 201: AdminTokenWithSecret },
      refusals: ['unknown_grant', 'admin_token_expires_late', ...unconfirmed],
      handler: async ({ body, principal, context }) => {
        const reauthentication = {
          userId: sessionPrincipal(principal).userId,
          password: body.password,
          mfaCode: body.mfa_code,
        };
        const requested = {
          name: body.name,
          grants: body.grants,
          expiresAt: timeOf(body.expires_at, 'expires_at'),
          reauthentication,
        };
        return issued(await createAdminToken(requested, context, dependencies));
      },
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/admin-tokens/grants',
      operation: 'listAdminGrants',
      summary: 'List the grants that a token can have, with the routes that they allow',
      responses: { 200: Type.Array(Grant) },
      handler: () => Promise.resolve({ status: 200, body: grantsOf(routes()) }),
    }),
    route({
      ...one,
      method: 'POST',
      path: '/api/admin/admin-tokens/{id}/rotate',
      operation: 'rotateAdminToken',
      summary: 'Replace the secret of a token. The old secret is invalid at once',
      body: RotateBody,
      bodyOptional: true,
      responses: { 201: AdminTokenWithSecret },
      refusals: ['admin_token_not_found', 'admin_token_revoked', 'admin_token_expires_late', ...unconfirmed],
      handler: async ({ params, body, principal, context }) => {
        const reauthentication = {
          userId: sessionPrincipal(principal).userId,
          password: body.password,
          mfaCode: body.mfa_code,
        };
        return issued(
          await rotateAdminToken(
            { tokenId: params.id, expiresAt: timeOf(body.expires_at, 'expires_at'), reauthentication },
            context,
            dependencies,
          ),
        );
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/admin-tokens/{id}',
      operation: 'revokeAdminToken',
      summary: 'Revoke a token. Its record and its request log are kept',
      responses: { 204: null },
      refusals: ['admin_token_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await revokeAdminToken({ tokenId: params.id }, context, dependencies), [IDENTITY]),
      }),
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/admin-tokens/{id}/requests',
      operation: 'listAdminTokenRequests',
      summary: 'List the requests made with a token, newest first',
      query: PageQuery,
      responses: { 200: Type.Array(LoggedRequest) },
      refusals: ['admin_token_not_found'],
      reads: [IDENTITY],
      handler: async ({ params, query: { limit, offset }, tenant }) => {
        const entries = await apiKeyRequests.list({ tenant, keyId: params.id, limit, offset });
        return {
          status: 200,
          body: entries.map(({ id, method, path, status, ip, ts }) => ({ id, method, path, status, ip, ts })),
        };
      },
    }),
  ];
}

function grantsOf(routes: readonly Route[]): readonly JsonObject[] {
  return ADMIN_GRANT_NAMES.map((name) => ({
    name,
    description: ADMIN_GRANTS[name],
    routes: routes.filter(({ grants }) => grants?.includes(name)).map(({ method, path }) => `${method} ${path}`),
  }));
}

function present(token: AdminTokenRecord, used: ReadonlyMap<string, Date>): JsonObject {
  return {
    id: token.id,
    name: token.name,
    grants: token.grants,
    tenant_id: token.tenant,
    created_by: token.createdBy,
    created_at: token.createdAt.toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: used.get(token.id)?.toISOString() ?? null,
    revoked: token.revoked,
  };
}
