import { Type } from '@sinclair/typebox';
import { type AccessQuestionAt, readAccessAt } from '../../../application/identity/read-access-at.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { parseDatetime } from '../../../domain/datetime.ts';
import { refusal } from '../../../domain/errors.ts';
import { ROLE_NAME } from '../../../domain/identity/principal.ts';
import { SUPER_ADMIN } from '../../../domain/identity/roles.ts';
import { UUID_PATTERN } from '../../../domain/uuid.ts';
import { invalidParameter } from '../../http/query-parameters.ts';
import { type Route, route } from '../../http/route.ts';
import { Texts, Timestamp, nullable, oneOf } from '../../http/schemas.ts';
import { sessionPrincipal } from './session-principal.ts';

const Subject = Type.Object({
  kind: oneOf(['role', 'user', 'api_key']),
  id: Type.String(),
});
const Access = Type.Object({
  subject: Subject,
  tenant_id: Type.String(),
  as_of: Timestamp,
  active: Type.Boolean({
    description:
      'False if the subject was disabled, deleted, revoked, expired or not a member at that moment; it then had no access',
  }),
  roles: Texts,
  scopes: nullable(Texts, { description: 'Scopes of an API key' }),
  schemas: nullable(Texts, {
    description: 'Content types that an API key is limited to; empty: no limit',
  }),
  rules: Type.Array(Type.Object({ schema_name: Type.String(), actions: Texts, field_mask: Texts }), {
    description:
      'Allowed actions. * stands for every content type that is not listed; actions with different field masks are separate rules',
  }),
});
const Query = Type.Object({
  as_of: Type.Optional(Type.String()),
  role: Type.Optional(Type.String({ pattern: ROLE_NAME.source })),
  user_id: Type.Optional(Type.String({ maxLength: 64 })),
  api_key_id: Type.Optional(Type.String({ maxLength: 64 })),
});

export type AccessRouteDependencies = { readonly eventStore: EventStore };

/** The effective access of a role, a user or an API key at a point in time, read from the streams. */
export function accessRoutes(dependencies: AccessRouteDependencies): readonly Route[] {
  const { eventStore } = dependencies;
  return [
    route({
      api: 'admin',
      method: 'GET',
      path: '/api/admin/access',
      operation: 'getAccess',
      summary: 'Get what a role, a user or an API key could do in the tenant at a point in time (default: now)',
      tag: 'identity',
      access: { kind: 'session', roles: ['admin', 'super_admin'] },
      query: Query,
      responses: { 200: Access },
      refusals: ['invalid_query_parameter', 'user_not_found', 'api_key_not_found'],
      handler: async ({ query, principal, tenant, context }) => {
        const now = context.now().toISOString();
        const asOf = query.as_of === undefined ? now : parseDatetime(query.as_of);
        if (asOf === undefined || asOf > now) throw invalidParameter('as_of');
        const subject = subjectOf(query);
        const acrossTenants = sessionPrincipal(principal).roles.includes(SUPER_ADMIN);
        const {
          active,
          roles,
          scopes = null,
          schemas = null,
          rules,
        } = await readAccessAt({ subject, asOf, acrossTenants }, context, { eventStore });
        return {
          status: 200,
          body: { subject, tenant_id: tenant, as_of: asOf, active, roles, scopes, schemas, rules },
        };
      },
    }),
  ];
}

/**
 * The subject of the query.
 * @throws `invalid_query_parameter` unless the query names exactly one; `user_not_found` or `api_key_not_found` for a
 * malformed id
 */
function subjectOf({
  role,
  user_id: userId,
  api_key_id: keyId,
}: {
  readonly role?: string;
  readonly user_id?: string;
  readonly api_key_id?: string;
}): AccessQuestionAt['subject'] {
  const subjects = [role, userId, keyId].filter((value) => value !== undefined);
  if (subjects.length !== 1)
    throw refusal('invalid_query_parameter', { message: 'exactly one of role, user_id and api_key_id is needed' });
  if (role !== undefined) return { kind: 'role', id: role };
  const [id = ''] = subjects;
  if (!UUID_PATTERN.test(id)) throw refusal(userId === undefined ? 'api_key_not_found' : 'user_not_found');
  return { kind: userId === undefined ? 'api_key' : 'user', id: id.toLowerCase() };
}
