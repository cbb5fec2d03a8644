import { Type } from '@sinclair/typebox';
import type { AuditDependencies } from '../../../application/platform/audit-dependencies.ts';
import { readAudit, readAuditEvent } from '../../../application/platform/read-audit.ts';
import { verifyAudit } from '../../../application/platform/verify-audit.ts';
import { parsePosition } from '../../../domain/event.ts';
import { type Principal, holdsRole } from '../../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../../domain/identity/roles.ts';
import { invalidParameter } from '../../http/query-parameters.ts';
import { type Route, route } from '../../http/route.ts';
import { Actor, AnyMembers, Id, Timestamp, nullable, oneOf } from '../../http/schemas.ts';
import { PageQuery } from '../paging.ts';

const AuditEvent = Type.Object({
  id: Id,
  type: Type.String(),
  stream: Type.String(),
  revision: Type.Integer(),
  position: Type.String(),
  occurred_at: Timestamp,
  actor: Actor,
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
  first_broken: nullable(
    Type.Object({
      position: Type.String(),
      event_id: Type.String(),
      kind: oneOf(['edited', 'missing', 'reordered', 'unsealed']),
    }),
    { description: 'The first event that breaks the chain; null without one', examples: [null] },
  ),
});

const Query = Type.Object({
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(Type.String({ maxLength: 100 })),
  resource: Type.Optional(Type.String({ maxLength: 200 })),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  correlation_id: Type.Optional(Type.String({ maxLength: 128 })),
  limit: PageQuery.properties.limit,
  cursor: Type.Optional(Type.String({ maxLength: 20 })),
});

export type AuditRouteDependencies = AuditDependencies;

/** The audit log, read from the event store, and the verification of the audit chain. */
export function auditRoutes(dependencies: AuditRouteDependencies): readonly Route[] {
  const { eventStore } = dependencies;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit/verify',
      operation: 'verifyAudit',
      summary: 'Seal the log up to its head and verify the audit chain of the tenant. Names the first divergence',
      tag: 'platform',
      access: { kind: 'session', roles: ['super_admin'] },
      responses: { 200: Verdict },
      feature: 'audit',
      handler: async ({ tenant, signal }) => ({
        status: 200,
        body: { ...(await verifyAudit({ tenant, signal }, dependencies)) },
      }),
    }),
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit',
      operation: 'listAuditEvents',
      summary:
        'List the events of the tenant, newest first, from the event store. Super admins see those of the installation in the default tenant',
      tag: 'platform',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      grants: ['audit:read'],
      query: Query,
      responses: { 200: Type.Object({ data: Type.Array(AuditEvent), next_cursor: Type.String() }) },
      feature: 'audit',
      handler: async ({ tenant, principal, query, signal }) => {
        const cursor = query.cursor === undefined ? undefined : parsePosition(query.cursor);
        if (query.cursor !== undefined && cursor === undefined) throw invalidParameter('cursor');
        const page = await readAudit(
          {
            tenant,
            superAdmin: isSuperAdmin(principal),
            signal,
            cursor,
            limit: query.limit,
            actor: query.actor,
            type: query.type,
            resource: query.resource,
            from: query.from,
            to: query.to,
            correlationId: query.correlation_id,
          },
          { eventStore },
        );
        return { status: 200, body: page };
      },
    }),
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit/{event_id}',
      operation: 'getAuditEvent',
      summary: 'Get an event of the tenant with its data. Secrets are masked',
      tag: 'platform',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      grants: ['audit:read'],
      params: Type.Object({ event_id: Id }),
      notFound: 'event_not_found',
      responses: {
        200: Type.Intersect([AuditEvent, Type.Object({ data: AnyMembers })]),
      },
      refusals: ['event_not_found'],
      feature: 'audit',
      handler: async ({ tenant, principal, params }) => ({
        status: 200,
        body: await readAuditEvent(
          { tenant, superAdmin: isSuperAdmin(principal), eventId: params.event_id },
          { eventStore },
        ),
      }),
    }),
  ];
}

function isSuperAdmin(principal: Principal | undefined): boolean {
  return principal !== undefined && holdsRole(principal, [SUPER_ADMIN]);
}
