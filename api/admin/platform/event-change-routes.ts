import { Type } from '@sinclair/typebox';
import { type ReadEventChangeDependencies, readEventChange } from '../../../application/platform/read-event-change.ts';
import { TRIGGER_EVENTS } from '../../../domain/automation/trigger.ts';
import { holdsRole } from '../../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../../domain/identity/roles.ts';
import { type Route, route } from '../../http/route.ts';
import { AnyMembers, Id, Timestamp, nullable, oneOf } from '../../http/schemas.ts';

const Entry = nullable(AnyMembers);
const Change = Type.Object({
  event_id: Id,
  event: oneOf(TRIGGER_EVENTS),
  tenant: Type.String(),
  schema: Type.String(),
  entry_id: Id,
  version: Type.Integer(),
  at: Timestamp,
  data: Entry,
  old_data: Entry,
});

export type EventChangeRouteDependencies = ReadEventChangeDependencies;

/** The changes of entries that are stubs on the topic of content changes. */
export function eventChangeRoutes(dependencies: EventChangeRouteDependencies): readonly Route[] {
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/audit/{event_id}/change',
      operation: 'getEventChange',
      summary: 'Get the entry before and after an event of the tenant, as the topic of content changes has it',
      tag: 'platform',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      grants: ['audit:read'],
      params: Type.Object({ event_id: Id }),
      notFound: 'event_not_found',
      responses: { 200: Change },
      refusals: ['event_not_found'],
      feature: 'audit',
      handler: async ({ tenant, principal, params }) => ({
        status: 200,
        body: {
          ...(await readEventChange(
            {
              tenant,
              superAdmin: principal !== undefined && holdsRole(principal, [SUPER_ADMIN]),
              eventId: params.event_id,
            },
            dependencies,
          )),
        },
      }),
    }),
  ];
}
