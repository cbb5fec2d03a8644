import { Type } from '@sinclair/typebox';
import type { WebhookRecords } from '../../../application/ports/webhook-records.ts';
import { refusal } from '../../../domain/errors.ts';
import { type Route, route } from '../../http/route.ts';
import { IdParams } from '../../http/schemas.ts';
import { PageQuery } from '../paging.ts';
import { DeadLetter, DeadLetterStatus } from './webhook-schemas.ts';

const SHARED = {
  api: 'admin',
  tag: 'automation',
  feature: 'webhook',
  access: { kind: 'credential', roles: ['admin', 'super_admin'] },
} as const;

const Query = Type.Object({
  status: Type.Optional(DeadLetterStatus),
  limit: PageQuery.properties.limit,
  offset: PageQuery.properties.offset,
});

export type DeadLetterRouteDependencies = { readonly records: WebhookRecords };

/** Dead letters: webhook deliveries that failed on their last attempt. */
export function deadLetterRoutes(dependencies: DeadLetterRouteDependencies): readonly Route[] {
  const { records } = dependencies;
  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/webhook-dead-letters',
      operation: 'listWebhookDeadLetters',
      summary: 'List the dead letters of the tenant, newest first',
      grants: ['webhooks:read', 'webhooks:write'],
      query: Query,
      responses: { 200: Type.Array(DeadLetter) },
      handler: async ({ query, tenant }) => ({
        status: 200,
        body: await records.deadLetters({ tenant, status: query.status, limit: query.limit, offset: query.offset }),
      }),
    }),
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/webhook-dead-letters/{id}',
      operation: 'getWebhookDeadLetter',
      summary: 'Get a dead letter',
      grants: ['webhooks:read', 'webhooks:write'],
      params: IdParams,
      notFound: 'dead_letter_not_found',
      responses: { 200: DeadLetter },
      refusals: ['dead_letter_not_found'],
      handler: async ({ params, tenant }) => {
        const letter = await records.deadLetter(tenant, params.id);
        if (!letter) throw refusal('dead_letter_not_found');
        return { status: 200, body: letter };
      },
    }),
  ];
}
