import { Type } from '@sinclair/typebox';
import { createWebhook } from '../../../application/automation/create-webhook.ts';
import { deleteWebhook } from '../../../application/automation/delete-webhook.ts';
import { replaceWebhook } from '../../../application/automation/replace-webhook.ts';
import { rotateWebhookSecret } from '../../../application/automation/rotate-webhook-secret.ts';
import { testWebhook } from '../../../application/automation/test-webhook.ts';
import {
  AUTOMATION,
  type WebhookDependencies,
  type WebhookOutcome,
} from '../../../application/automation/webhook-dependencies.ts';
import type { WebhookRecords } from '../../../application/ports/webhook-records.ts';
import type { StoredWebhook } from '../../../application/ports/webhooks.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type IdRequest, type Route, type RouteResponse, route } from '../../http/route.ts';
import { IdParams, nullable } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import { deadLetterRoutes } from './dead-letter-routes.ts';
import { presentWebhook } from './present-webhook.ts';
import { webhookBodyRefusal } from './webhook-body-refusal.ts';
import { Delivery, RotateBody, Webhook, WebhookBody } from './webhook-schemas.ts';

const SHARED = { api: 'admin', tag: 'automation', feature: 'webhook' } as const;
const READING = {
  ...SHARED,
  access: { kind: 'credential', roles: ['admin', 'super_admin'] },
  reads: [AUTOMATION],
} as const;
const CHANGING = { ...SHARED, access: { kind: 'credential', roles: ['super_admin'] } } as const;

export type WebhookRouteDependencies = WebhookDependencies & { readonly records: WebhookRecords };

const DeliveryQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  offset: PageQuery.properties.offset,
});

/**
 * Outbound webhooks, their deliveries and their dead letters. Templates, filters, health, search and replay are not
 * implemented.
 */
export function webhookRoutes(dependencies: WebhookRouteDependencies): readonly Route[] {
  const { webhooks, vault, records } = dependencies;
  const bodied = { malformedJson: 'invalid_json', bodyRefusal: webhookBodyRefusal } as const;
  const one = { params: IdParams, notFound: 'webhook_not_found', precheck: existing } as const;

  async function existing({ params, tenant }: IdRequest): Promise<StoredWebhook> {
    const webhook = await webhooks.one(tenant, params.id);
    if (!webhook) throw refusal('webhook_not_found');
    return webhook;
  }
  const present = (webhook: StoredWebhook, principal: Principal | undefined): JsonObject =>
    presentWebhook({ stored: webhook, masked: principal?.kind !== 'session' }, { vault });
  const written = (
    status: number,
    { webhook, position }: WebhookOutcome,
    principal: Principal | undefined,
  ): RouteResponse => ({ status, body: present(webhook, principal), ...commitAt(position, [AUTOMATION]) });

  return [
    route({
      ...READING,
      method: 'GET',
      path: '/api/admin/webhooks',
      operation: 'listWebhooks',
      summary: 'List the webhooks of the tenant, oldest first, without their secrets',
      grants: ['webhooks:read'],
      query: PageQuery,
      responses: { 200: Type.Array(Webhook) },
      handler: async ({ query, tenant, principal }) => ({
        status: 200,
        body: (await webhooks.list(tenant, query)).map((webhook) => present(webhook, principal)),
        headers: await pageHeaders(query, () => webhooks.count(tenant)),
      }),
    }),
    route({
      ...CHANGING,
      ...bodied,
      method: 'POST',
      path: '/api/admin/webhooks',
      operation: 'createWebhook',
      summary: 'Create a webhook',
      body: WebhookBody,
      responses: { 201: Webhook },
      refusals: ['invalid_json', 'invalid_input', 'payment_required', 'cap_exceeded'],
      idempotent: true,
      handler: async ({ body, context, principal }) =>
        written(201, await createWebhook(body, context, dependencies), principal),
    }),
    route({
      ...READING,
      method: 'GET',
      path: '/api/admin/webhooks/{id}',
      operation: 'getWebhook',
      summary: 'Get a webhook',
      grants: ['webhooks:read'],
      params: IdParams,
      notFound: 'webhook_not_found',
      responses: { 200: Webhook },
      refusals: ['webhook_not_found'],
      handler: async (request) => ({ status: 200, body: present(await existing(request), request.principal) }),
    }),
    route({
      ...CHANGING,
      ...bodied,
      ...one,
      method: 'PUT',
      path: '/api/admin/webhooks/{id}',
      operation: 'replaceWebhook',
      summary: 'Replace a webhook. Keeps the stored secret if the body has none',
      body: WebhookBody,
      responses: { 200: Webhook },
      refusals: ['invalid_json', 'invalid_input', 'payment_required', 'webhook_not_found'],
      handler: async ({ params, body, context, principal }) =>
        written(200, await replaceWebhook({ id: params.id, input: body }, context, dependencies), principal),
    }),
    route({
      ...CHANGING,
      ...one,
      method: 'DELETE',
      path: '/api/admin/webhooks/{id}',
      operation: 'deleteWebhook',
      summary: 'Delete a webhook and drop its pending deliveries',
      responses: { 204: null },
      refusals: ['webhook_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await deleteWebhook({ id: params.id }, context, dependencies), [AUTOMATION]),
      }),
    }),
    route({
      ...CHANGING,
      ...bodied,
      ...one,
      method: 'POST',
      path: '/api/admin/webhooks/{id}/rotate-secret',
      operation: 'rotateWebhookSecret',
      summary: 'Set or generate the secret of a webhook. Only this response contains it',
      body: RotateBody,
      responses: { 200: Type.Object({ new_secret: Type.String() }) },
      refusals: ['invalid_json', 'invalid_input', 'webhook_not_found'],
      handler: async ({ params, body, context }) => {
        const { newSecret, position } = await rotateWebhookSecret(
          { id: params.id, newSecret: body.new_secret },
          context,
          dependencies,
        );
        return {
          status: 200,
          body: { new_secret: newSecret },
          headers: { 'Cache-Control': 'no-store' },
          ...commitAt(position, [AUTOMATION]),
        };
      },
    }),
    route({
      ...READING,
      ...one,
      method: 'POST',
      path: '/api/admin/webhooks/{id}/test',
      operation: 'testWebhook',
      summary: 'Send a test request now',
      grants: ['webhooks:write'],
      responses: {
        200: Type.Object({
          success: Type.Boolean(),
          status_code: nullable(Type.Integer()),
          message: Type.String(),
        }),
      },
      refusals: ['webhook_not_found'],
      handler: async ({ params, context }) => ({
        status: 200,
        body: await testWebhook({ id: params.id }, context, dependencies),
      }),
    }),
    route({
      ...READING,
      ...one,
      method: 'GET',
      path: '/api/admin/webhooks/{id}/deliveries',
      operation: 'listWebhookDeliveries',
      summary: 'List the delivery attempts of a webhook, newest first',
      grants: ['webhooks:read'],
      query: DeliveryQuery,
      responses: { 200: Type.Array(Delivery) },
      refusals: ['webhook_not_found'],
      handler: async ({ params, query, tenant }) => ({
        status: 200,
        body: await records.deliveries({ tenant, webhookId: params.id, limit: query.limit, offset: query.offset }),
      }),
    }),
    ...deadLetterRoutes({ records }),
  ];
}
