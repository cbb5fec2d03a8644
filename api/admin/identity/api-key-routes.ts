import { Type } from '@sinclair/typebox';
import { createApiKey } from '../../../application/identity/create-api-key.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { deleteApiKey, revokeApiKey } from '../../../application/identity/end-api-key.ts';
import type { ApiKeyRecord } from '../../../application/identity/identity-reads.ts';
import type { FieldError } from '../../../domain/errors.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { commitAt } from './credentials-answer.ts';
import { Page, pageHeaders } from './paging.ts';
import { sessionPrincipal } from './session-principal.ts';

const Time = Type.String({ format: 'date-time' });
const Id = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Names = Type.Array(Type.String({ maxLength: 200 }), { maxItems: 200 });

const NewKey = Type.Object(
  {
    name: Type.String({ pattern: '\\S' }),
    scopes: Type.Optional(Names),
    roles: Type.Optional(Names),
    schemas: Type.Optional(Names),
    expires_at: Type.Optional(Type.Union([Time, Type.Null()])),
    monthly_limit: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  { additionalProperties: false },
);

const keyFields = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  prefix: Type.String({ description: 'first 8 characters of the key after svc_' }),
  scopes: Type.Array(Type.String()),
  roles: Type.Array(Type.String()),
  schemas: Type.Array(Type.String()),
  tenant_id: Type.String(),
  enabled: Type.Boolean(),
  expires_at: Type.Union([Time, Type.Null()]),
  monthly_limit: Type.Integer(),
  created_at: Time,
};
const ApiKey = Type.Object(keyFields);
const AuditEntry = Type.Object({
  id: Type.String({ format: 'uuid' }), api_key_id: Type.String({ format: 'uuid' }), method: Type.String(), path: Type.String(),
  status: Type.Integer(), ip: Type.String(), ts: Time,
});

/** History read without `apikey-pro` (spec 1, limits). */
const FREE_HISTORY_MS = 30 * 86_400_000;

/** API keys of the tenant (spec 1, API key routes; admin or super_admin in a signed-in session). */
export function apiKeyRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const { reads, apiKeyRequests, entitlements } = dependencies;
  const shared = {
    api: 'admin', tag: 'identity', feature: 'apikey', access: { kind: 'session', roles: ['admin', 'super_admin'], refusal: 'keys_need_user' },
  } as const;
  const one = { ...shared, params: Id, notFound: 'api_key_not_found' } as const;

  async function existing({ params, tenant }: { readonly params: { readonly id: string }; readonly tenant: string }): Promise<void> {
    if (!(await reads.apiKeyById({ tenant, keyId: params.id }))) throw refusal('api_key_not_found');
  }

  return [
    route({
      ...shared, method: 'GET', path: '/api/admin/api-keys', operation: 'listApiKeys', summary: 'Keys of the tenant, newest first; never their secrets',
      query: Page, answers: { 200: Type.Array(ApiKey) }, reads: ['identity'],
      handler: async ({ query, tenant }) => ({
        status: 200,
        body: (await reads.apiKeys({ tenant, limit: query.limit, offset: query.offset })).map(presentKey),
        headers: await pageHeaders(query, () => reads.countApiKeys(tenant)),
      }),
    }),
    route({
      ...shared, method: 'POST', path: '/api/admin/api-keys', operation: 'createApiKey', summary: 'Makes a key; the answer alone holds its secret',
      idempotent: true, body: NewKey, malformedJson: 'api_key_name_required', refuseBody,
      answers: { 201: Type.Object({ ...keyFields, raw_key: Type.String() }) },
      refusals: ['api_key_name_required', 'cap_exceeded', 'payment_required', 'cannot_grant_roles', 'api_key_needs_expiry', 'api_key_expires_late'],
      handler: async ({ body, principal, context }) => {
        const asked = {
          name: body.name.trim(), scopes: body.scopes ?? [], roles: body.roles ?? [], schemas: body.schemas ?? [],
          expiresAt: expiryOf(body.expires_at), monthlyLimit: body.monthly_limit ?? 0,
        };
        const { key, rawKey, position } = await createApiKey(dependencies, { asked, maker: sessionPrincipal(principal) }, context);
        return { status: 201, body: { ...presentKey(key), raw_key: rawKey }, headers: { 'Cache-Control': 'no-store' }, ...commitAt(position) };
      },
    }),
    route({
      ...one, method: 'POST', path: '/api/admin/api-keys/{id}/revoke', operation: 'revokeApiKey', summary: 'Revokes a key; its history stays',
      answers: { 204: null }, refusals: ['api_key_not_found'],
      handler: async ({ params, context }) => ({ status: 204, ...commitAt(await revokeApiKey(dependencies, { keyId: params.id }, context)) }),
    }),
    route({
      ...one, method: 'DELETE', path: '/api/admin/api-keys/{id}', operation: 'deleteApiKey', summary: 'Deletes a key with its request history',
      answers: { 204: null }, refusals: ['api_key_not_found'],
      handler: async ({ params, context }) => ({ status: 204, ...commitAt(await deleteApiKey(dependencies, { keyId: params.id }, context)) }),
    }),
    route({
      ...one, method: 'GET', path: '/api/admin/api-keys/{id}/audit', operation: 'listApiKeyRequests', summary: 'Requests that the key made, newest first',
      precheck: existing,
      query: Type.Object({ ...Page.properties, limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }) }),
      answers: { 200: Type.Array(AuditEntry) }, refusals: ['api_key_not_found'], reads: ['identity'],
      handler: async ({ params, query: { limit, offset }, tenant, context }) => {
        const since = entitlements.has('apikey-pro') ? undefined : new Date(context.now().getTime() - FREE_HISTORY_MS);
        return { status: 200, body: await apiKeyRequests.list({ tenant, keyId: params.id, limit, offset, since }) };
      },
    }),
  ];
}

/** No name, or a body that is no object, has a message of its own (spec 1, API key routes). */
function refuseBody(problems: readonly FieldError[]): Error {
  if (problems.some(({ field }) => field === 'name' || field === '')) return refusal('api_key_name_required');
  return refusal('validation_failed', { fields: problems.map(({ field, message }) => ({ field, message })) });
}

function expiryOf(text: string | null | undefined): Date | undefined {
  if (text === undefined || text === null) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw refusal('validation_failed', { fields: [{ field: 'expires_at', message: 'must be an RFC 3339 time' }] });
  return date;
}

function presentKey(key: ApiKeyRecord): JsonObject {
  return {
    id: key.id, name: key.name, prefix: key.prefix, scopes: key.scopes, roles: key.roles, schemas: key.schemas, tenant_id: key.tenant, enabled: key.enabled,
    expires_at: key.expiresAt?.toISOString() ?? null, monthly_limit: key.monthlyLimit, created_at: key.createdAt.toISOString(),
  };
}
