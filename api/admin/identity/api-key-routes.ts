import { Type } from '@sinclair/typebox';
import { createApiKey } from '../../../application/identity/create-api-key.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import { deleteApiKey, revokeApiKey } from '../../../application/identity/end-api-key.ts';
import type { ApiKeyRecord } from '../../../application/identity/identity-reads.ts';
import { rotateApiKey } from '../../../application/identity/rotate-api-key.ts';
import { setMonthlyLimit } from '../../../application/identity/set-monthly-limit.ts';
import { refusal } from '../../../domain/errors.ts';
import { billingPeriod } from '../../../domain/identity/billing-period.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { ApiKey, ApiKeyWithSecret, AuditEntry, Grace, MonthlyLimit, NewKey, Usage, presentApiKey, refuseNewKey } from './api-key-schemas.ts';
import { commitAt } from './credentials-answer.ts';
import { Page, pageHeaders } from './paging.ts';
import { sessionPrincipal } from './session-principal.ts';
import { timeOf } from './time-of.ts';

const Id = Type.Object({ id: Type.String({ format: 'uuid' }) });

/** History read without `apikey-pro` (spec 1, limits). */
const FREE_HISTORY_MS = 30 * 86_400_000;

/** API keys of the tenant (spec 1, API key routes; admin or super_admin in a signed-in session). */
export function apiKeyRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const { reads, apiKeyRequests, entitlements } = dependencies;
  const shared = {
    api: 'admin', tag: 'identity', feature: 'apikey', access: { kind: 'session', roles: ['admin', 'super_admin'], refusal: 'keys_need_user' },
  } as const;
  const one = { ...shared, params: Id, notFound: 'api_key_not_found' } as const;

  type Of = { readonly params: { readonly id: string }; readonly tenant: string };
  async function keyOf({ params, tenant }: Of): Promise<ApiKeyRecord> {
    const key = await reads.apiKeyById({ tenant, keyId: params.id });
    if (!key) throw refusal('api_key_not_found');
    return key;
  }
  /** A missing key wins over a bad body (spec 4 A, order of refusals). */
  async function existing(request: Of): Promise<void> {
    await keyOf(request);
  }

  return [
    route({
      ...shared, method: 'GET', path: '/api/admin/api-keys', operation: 'listApiKeys', summary: 'Keys of the tenant, newest first; never their secrets',
      query: Page, answers: { 200: Type.Array(ApiKey) }, reads: ['identity'],
      handler: async ({ query, tenant }) => ({
        status: 200,
        body: (await reads.apiKeys({ tenant, limit: query.limit, offset: query.offset })).map(presentApiKey),
        headers: await pageHeaders(query, () => reads.countApiKeys(tenant)),
      }),
    }),
    route({
      ...shared, method: 'POST', path: '/api/admin/api-keys', operation: 'createApiKey', summary: 'Makes a key; the answer alone holds its secret',
      idempotent: true, body: NewKey, malformedJson: 'api_key_name_required', refuseBody: refuseNewKey,
      answers: { 201: ApiKeyWithSecret },
      refusals: ['api_key_name_required', 'cap_exceeded', 'payment_required', 'cannot_grant_roles', 'api_key_needs_expiry', 'api_key_expires_late'],
      handler: async ({ body, principal, context }) => {
        const asked = {
          name: body.name.trim(), scopes: body.scopes ?? [], roles: body.roles ?? [], schemas: body.schemas ?? [],
          expiresAt: timeOf(body.expires_at, 'expires_at'), monthlyLimit: body.monthly_limit ?? 0,
        };
        const { key, rawKey, position } = await createApiKey(dependencies, { asked, maker: sessionPrincipal(principal) }, context);
        return { status: 201, body: { ...presentApiKey(key), raw_key: rawKey }, headers: { 'Cache-Control': 'no-store' }, ...commitAt(position) };
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
      ...one, method: 'POST', path: '/api/admin/api-keys/{id}/rotate', operation: 'rotateApiKey', summary: 'Gives a key another secret; the answer alone holds it',
      idempotent: true, precheck: existing, body: Grace, bodyOptional: true, answers: { 200: ApiKeyWithSecret },
      refusals: ['api_key_not_found', 'api_key_revoked', 'cannot_grant_roles'],
      handler: async ({ params, body, principal, tenant, context }) => {
        const rotation = { keyId: params.id, graceSeconds: body.grace_seconds ?? 0, maker: sessionPrincipal(principal) };
        const { rawKey, prefix, position } = await rotateApiKey(dependencies, rotation, context);
        const key = { ...(await keyOf({ params, tenant })), prefix };
        return { status: 200, body: { ...presentApiKey(key), raw_key: rawKey }, headers: { 'Cache-Control': 'no-store' }, ...commitAt(position) };
      },
    }),
    route({
      ...one, method: 'PATCH', path: '/api/admin/api-keys/{id}/monthly-limit', operation: 'setApiKeyMonthlyLimit',
      summary: 'Sets the requests that a key may make in a UTC calendar month; 0 removes the limit',
      precheck: existing, body: MonthlyLimit, answers: { 200: ApiKey }, refusals: ['api_key_not_found', 'payment_required'],
      handler: async ({ params, body: { monthly_limit: monthlyLimit }, tenant, context }) => {
        const position = await setMonthlyLimit(dependencies, { keyId: params.id, monthlyLimit }, context);
        return { status: 200, body: presentApiKey({ ...(await keyOf({ params, tenant })), monthlyLimit }), ...commitAt(position) };
      },
    }),
    route({
      ...one, feature: 'usage', method: 'GET', path: '/api/admin/usage/api-key/{id}', operation: 'getApiKeyUsage', summary: 'What the key used in the present UTC calendar month',
      precheck: existing, answers: { 200: Usage }, refusals: ['api_key_not_found'], reads: ['identity'],
      handler: async ({ params, tenant, context }) => {
        const period = billingPeriod(context.now());
        const { requests, bytesIn, bytesOut } = await apiKeyRequests.usage({ tenant, keyId: params.id, period });
        return { status: 200, body: { billing_period: period, requests, bytes_in: bytesIn, bytes_out: bytesOut } };
      },
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
