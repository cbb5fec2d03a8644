import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../../api/http/route.ts';
import { refusal } from '../../../domain/errors.ts';
import { positionFrom } from '../../../domain/event.ts';

const Params = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Body = Type.Object(
  { name: Type.String({ minLength: 1 }), size: Type.Optional(Type.Integer()), more: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
);
const WRITERS = ['editor', 'admin', 'super_admin'];

/** Small routes that cover all features of route declarations. */
export function thingRoutes(): readonly Route[] {
  let created = 0;
  const shared = { tag: 'things', summary: 'A thing', responses: { 200: Type.Unknown() } } as const;
  const both = (['admin', 'content'] as const).flatMap((api) => {
    const prefix = api === 'admin' ? '/api/admin/things' : '/api/v1/things';
    return [
      route({
        ...shared,
        api,
        method: 'GET',
        path: prefix,
        operation: `list${api}`,
        access: { kind: 'credential' },
        reads: ['content'],
        query: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 200, default: 25 }),
          filters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        }),
        handler: ({ query, tenant, principal, context, clientAddress }) =>
          Promise.resolve({
            status: 200,
            body: {
              limit: query.limit,
              filters: JSON.parse(JSON.stringify(query.filters ?? {})),
              tenant,
              who: principal?.kind ?? null,
              actor: context.actor.id,
              correlation: context.correlationId,
              clientAddress,
            },
          }),
      }),
      route({
        ...shared,
        api,
        method: 'POST',
        path: prefix,
        operation: `create${api}`,
        access: { kind: 'credential', roles: WRITERS },
        body: Body,
        idempotent: true,
        handler: ({ body }) => {
          created += 1;
          if (body.name === 'refuse me') throw refusal('unique_value_held');
          return Promise.resolve({
            status: 201,
            body: { number: created, name: body.name, raw_key: 'svc_shown_once' },
            commit: { position: positionFrom(body.size ?? 1), readModels: ['content'] },
          });
        },
      }),
      route({
        ...shared,
        api,
        method: 'GET',
        path: `${prefix}/{id}`,
        operation: `get${api}`,
        access: { kind: 'credential' },
        params: Params,
        notFound: 'entry_not_found',
        handler: ({ params }) =>
          Promise.resolve({ status: 200, json: JSON.stringify({ id: params.id }), headers: { ETag: '"1"' } }),
      }),
      route({
        ...shared,
        api,
        method: 'DELETE',
        path: `${prefix}/{id}`,
        operation: `delete${api}`,
        access: { kind: 'credential', roles: WRITERS },
        params: Params,
        responses: { 204: null },
        handler: () => Promise.resolve({ status: 204 }),
      }),
    ];
  });
  return [
    ...both,
    route({
      ...shared,
      api: 'admin',
      method: 'GET',
      path: '/api/admin/public',
      operation: 'public',
      access: { kind: 'public' },
      handler: ({ tenant }) => Promise.resolve({ status: 200, body: { tenant } }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'POST',
      path: '/api/admin/keys',
      operation: 'keys',
      access: { kind: 'session', roles: ['admin', 'super_admin'], refusal: 'keys_need_user' },
      body: Body,
      handler: () => Promise.resolve({ status: 200, body: {} }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'POST',
      path: '/api/admin/optional',
      operation: 'optional',
      access: { kind: 'public' },
      bodyOptional: true,
      malformedJson: 'invalid_json',
      body: Type.Object({ a: Type.Optional(Type.String()) }),
      handler: ({ body }) => Promise.resolve({ status: 200, body: { a: body.a ?? null } }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'POST',
      path: '/api/admin/csv',
      operation: 'csv',
      access: { kind: 'public' },
      rawBody: ['text/csv'],
      handler: ({ body }) =>
        Promise.resolve({ status: 200, body: { bytes: Buffer.isBuffer(body) ? body.length : -1 } }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'PUT',
      path: '/api/admin/checked/{id}',
      operation: 'checked',
      access: { kind: 'public' },
      body: Body,
      precheck: () => Promise.reject(refusal('webhook_not_found')),
      handler: () => Promise.resolve({ status: 200, body: {} }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'GET',
      path: '/api/admin/broken',
      operation: 'broken',
      access: { kind: 'public' },
      handler: () => Promise.reject(new Error('password=hunter2 in SQL')),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'GET',
      path: '/api/admin/bad-header',
      operation: 'badHeader',
      access: { kind: 'public' },
      handler: () => Promise.resolve({ status: 200, body: {}, headers: { 'X-Bad': 'a\r\nSet-Cookie: b' } }),
    }),
    route({
      ...shared,
      api: 'admin',
      method: 'GET',
      path: '/api/admin/capped',
      operation: 'capped',
      access: { kind: 'public' },
      handler: () =>
        Promise.reject(
          refusal('cap_exceeded', {
            body: { cap: 'apikey.keys', limit: 5, current: 5, upgrade_url: 'https://x.test' },
          }),
        ),
    }),
  ];
}
