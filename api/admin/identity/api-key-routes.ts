import { Type } from '@sinclair/typebox';
import { createApiKey } from '../../../application/identity/create-api-key.ts';
import type {
  CreateApiKeyDependencies,
  DeleteApiKeyDependencies,
} from '../../../application/identity/credential-dependencies.ts';
import { deleteApiKey } from '../../../application/identity/delete-api-key.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { revokeApiKey } from '../../../application/identity/revoke-api-key.ts';
import { rotateApiKey } from '../../../application/identity/rotate-api-key.ts';
import { setMonthlyLimit } from '../../../application/identity/set-monthly-limit.ts';
import type { ApiKeyRecord } from '../../../application/ports/identity-reads.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { refusal } from '../../../domain/errors.ts';
import { billingPeriod } from '../../../domain/identity/billing-period.ts';
import { commitAt } from '../../http/commit.ts';
import { type IdRequest, type Route, route } from '../../http/route.ts';
import { IdParams } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import {
  ApiKey,
  ApiKeyWithSecret,
  AuditEntry,
  MonthlyLimitBody,
  NewKeyBody,
  RotateBody,
  Usage,
  newKeyRefusal,
  presentApiKey,
} from './api-key-schemas.ts';
import { sessionPrincipal } from './session-principal.ts';
import { timeOf } from './time-of.ts';

const SHARED = {
  api: 'admin',
  tag: 'identity',
  feature: 'apikey',
  access: { kind: 'session', roles: ['admin', 'super_admin'], refusal: 'keys_need_user' },
} as const;

/** How far back the request log can be read without the capability `apikey-pro`: 30 days. */
const FREE_HISTORY_MS = 30 * DAY_MS;

export type ApiKeyRouteDependencies = CreateApiKeyDependencies & DeleteApiKeyDependencies;

/** API keys of the tenant. The routes need a session of an admin or a super admin. */
export function apiKeyRoutes(dependencies: ApiKeyRouteDependencies): readonly Route[] {
  const { reads, apiKeyRequests, entitlements } = dependencies;
  const one = { ...SHARED, params: IdParams, notFound: 'api_key_not_found' } as const;

  async function keyOf({ params, tenant }: IdRequest): Promise<ApiKeyRecord> {
    const key = await reads.apiKeyById({ tenant, keyId: params.id });
    if (!key) throw refusal('api_key_not_found');
    return key;
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/api-keys',
      operation: 'listApiKeys',
      summary: 'List the API keys of the tenant, newest first, without their secrets',
      query: PageQuery,
      responses: { 200: Type.Array(ApiKey) },
      reads: [IDENTITY],
      handler: async ({ query, tenant }) => ({
        status: 200,
        body: (await reads.apiKeys({ tenant, limit: query.limit, offset: query.offset })).map(presentApiKey),
        headers: await pageHeaders(query, () => reads.countApiKeys(tenant)),
      }),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/api-keys',
      operation: 'createApiKey',
      summary: 'Create an API key. Only this response contains its secret',
      body: NewKeyBody,
      bodyRefusal: newKeyRefusal,
      malformedJson: 'api_key_name_required',
      responses: { 201: ApiKeyWithSecret },
      refusals: [
        'api_key_name_required',
        'cap_exceeded',
        'payment_required',
        'cannot_grant_roles',
        'api_key_needs_expiry',
        'api_key_expires_late',
      ],
      idempotent: true,
      handler: async ({ body, principal, context }) => {
        const requested = {
          name: body.name.trim(),
          scopes: body.scopes ?? [],
          roles: body.roles ?? [],
          schemas: body.schemas ?? [],
          expiresAt: timeOf(body.expires_at, 'expires_at'),
          monthlyLimit: body.monthly_limit ?? 0,
        };
        const { key, rawKey, position } = await createApiKey(
          { requested, creator: sessionPrincipal(principal) },
          context,
          dependencies,
        );
        return {
          status: 201,
          body: { ...presentApiKey(key), raw_key: rawKey },
          headers: { 'Cache-Control': 'no-store' },
          ...commitAt(position, [IDENTITY]),
        };
      },
    }),
    route({
      ...one,
      method: 'POST',
      path: '/api/admin/api-keys/{id}/revoke',
      operation: 'revokeApiKey',
      summary: 'Revoke an API key. Its request log is kept',
      responses: { 204: null },
      refusals: ['api_key_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await revokeApiKey({ keyId: params.id }, context, dependencies), [IDENTITY]),
      }),
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/api-keys/{id}',
      operation: 'deleteApiKey',
      summary: 'Delete an API key and its request log',
      responses: { 204: null },
      refusals: ['api_key_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await deleteApiKey({ keyId: params.id }, context, dependencies), [IDENTITY]),
      }),
    }),
    route({
      ...one,
      method: 'POST',
      path: '/api/admin/api-keys/{id}/rotate',
      operation: 'rotateApiKey',
      summary: 'Replace the secret of an API key. Only this response contains the new secret',
      body: RotateBody,
      bodyOptional: true,
      responses: { 200: ApiKeyWithSecret },
      refusals: ['api_key_not_found', 'api_key_revoked', 'cannot_grant_roles'],
      idempotent: true,
      precheck: keyOf,
      handler: async ({ params, body, principal, tenant, context }) => {
        const rotation = {
          keyId: params.id,
          graceSeconds: body.grace_seconds ?? 0,
          creator: sessionPrincipal(principal),
        };
        const { rawKey, prefix, position } = await rotateApiKey(rotation, context, dependencies);
        const key = { ...(await keyOf({ params, tenant })), prefix };
        return {
          status: 200,
          body: { ...presentApiKey(key), raw_key: rawKey },
          headers: { 'Cache-Control': 'no-store' },
          ...commitAt(position, [IDENTITY]),
        };
      },
    }),
    route({
      ...one,
      method: 'PATCH',
      path: '/api/admin/api-keys/{id}/monthly-limit',
      operation: 'setApiKeyMonthlyLimit',
      summary: 'Set how many requests an API key may make in a UTC calendar month; 0 removes the limit',
      body: MonthlyLimitBody,
      responses: { 200: ApiKey },
      refusals: ['api_key_not_found', 'payment_required'],
      precheck: keyOf,
      handler: async ({ params, body: { monthly_limit: monthlyLimit }, tenant, context }) => {
        const position = await setMonthlyLimit({ keyId: params.id, monthlyLimit }, context, dependencies);
        return {
          status: 200,
          body: presentApiKey({ ...(await keyOf({ params, tenant })), monthlyLimit }),
          ...commitAt(position, [IDENTITY]),
        };
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/usage/api-key/{id}',
      operation: 'getApiKeyUsage',
      summary: 'Get the usage of an API key in the current UTC calendar month',
      responses: { 200: Usage },
      refusals: ['api_key_not_found'],
      feature: 'usage',
      precheck: keyOf,
      reads: [IDENTITY],
      handler: async ({ params, tenant, context }) => {
        const period = billingPeriod(context.now());
        const { requests, bytesIn, bytesOut } = await apiKeyRequests.usage({ tenant, keyId: params.id, period });
        return { status: 200, body: { billing_period: period, requests, bytes_in: bytesIn, bytes_out: bytesOut } };
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/api-keys/{id}/audit',
      operation: 'listApiKeyRequests',
      summary: 'List the requests made with an API key, newest first',
      query: Type.Object({ ...PageQuery.properties, limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }) }),
      responses: { 200: Type.Array(AuditEntry) },
      refusals: ['api_key_not_found'],
      precheck: keyOf,
      reads: [IDENTITY],
      handler: async ({ params, query: { limit, offset }, tenant, context }) => {
        const since = entitlements.has('apikey-pro') ? undefined : new Date(context.now().getTime() - FREE_HISTORY_MS);
        return { status: 200, body: await apiKeyRequests.list({ tenant, keyId: params.id, limit, offset, since }) };
      },
    }),
  ];
}
