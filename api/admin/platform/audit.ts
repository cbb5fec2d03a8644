import { Type } from '@sinclair/typebox';
import { readAudit, readAuditEvent } from '../../../application/platform/read-audit.ts';
import type { AuditDependencies } from '../../../application/platform/seal-audit.ts';
import { verifyAudit } from '../../../application/platform/verify-audit.ts';
import { refusal } from '../../../domain/errors.ts';
import { parsePosition } from '../../../domain/event.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';

const Time = Type.String({ format: 'date-time' });

const Record = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  position: Type.String(),
  occurred_at: Time,
  actor: Type.Object({ kind: Type.String(), id: Type.String() }),
  tenant_id: Type.String(),
  resource: Type.Object({ kind: Type.String(), id: Type.String() }),
  summary: Type.String(),
  correlation_id: Type.String(),
  causation_id: Type.String(),
});

const Verdict = Type.Object({
  ok: Type.Boolean(),
  checked: Type.Integer(),
  sealed_to: Type.String(),
  first_broken: Type.Union([
    Type.Null(),
    Type.Object({ position: Type.String(), event_id: Type.String(), kind: Type.Union([Type.Literal('edited'), Type.Literal('missing'), Type.Literal('reordered'), Type.Literal('unsealed')]) }),
  ]),
});

const Query = Type.Object({
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(Type.String({ maxLength: 100 })),
  resource: Type.Optional(Type.String({ maxLength: 200 })),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
  correlation_id: Type.Optional(Type.String({ maxLength: 128 })),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 25 }),
  cursor: Type.Optional(Type.String({ maxLength: 20 })),
});

/** The audit log, straight from the streams (spec 4 A, API keys, audit, usage). */
export function auditRoutes(audit: AuditDependencies): readonly Route[] {
  const { eventStore } = audit;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit/verify',
      operation: 'verifyAudit',
      summary: 'Seals up to the head and proves that nothing of the tenant was altered; names the first difference',
      tag: 'platform', feature: 'audit',
      access: { kind: 'session', roles: ['super_admin'] },
      answers: { 200: Verdict },
      handler: async ({ tenant, signal }) => ({ status: 200, body: { ...(await verifyAudit(audit, { tenant, signal })) } }),
    }),
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit',
      operation: 'listAuditEvents',
      grants: ['audit:read'],
      summary: 'Events of the tenant, newest first, read from the event store',
      tag: 'platform', feature: 'audit',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      query: Query,
      answers: { 200: Type.Object({ data: Type.Array(Record), next_cursor: Type.String() }) },
      handler: async ({ tenant, query, signal }) => {
        const cursor = query.cursor === undefined ? undefined : parsePosition(query.cursor);
        if (query.cursor !== undefined && cursor === undefined) throw refusal('invalid_query_parameter', { message: 'invalid query parameter: cursor' });
        const page = await readAudit(eventStore, {
          tenant, signal, cursor, limit: query.limit,
          actor: query.actor, type: query.type, resource: query.resource, from: query.from, to: query.to, correlationId: query.correlation_id,
        });
        return { status: 200, body: page };
      },
    }),
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit/{event_id}',
      operation: 'getAuditEvent',
      grants: ['audit:read'],
      summary: 'One event of the tenant with its data, secrets masked',
      tag: 'platform', feature: 'audit',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      params: Type.Object({ event_id: Type.String({ format: 'uuid' }) }),
      notFound: 'event_not_found',
      answers: { 200: Type.Intersect([Record, Type.Object({ data: Type.Object({}, { additionalProperties: true }) })]) },
      refusals: ['event_not_found'],
      handler: async ({ tenant, params }) => ({ status: 200, body: await readAuditEvent(eventStore, { tenant, eventId: params.event_id }) }),
    }),
  ];
}
