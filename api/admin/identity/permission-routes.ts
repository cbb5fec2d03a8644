import { Type } from '@sinclair/typebox';
import { changeAccessRule } from '../../../application/identity/change-access-rule.ts';
import { deleteAccessRule } from '../../../application/identity/delete-access-rule.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import { putAccessRule } from '../../../application/identity/put-access-rule.ts';
import type { SavedAccessRule } from '../../../application/identity/saved-access-rule.ts';
import type { AccessRuleDependencies } from '../../../application/identity/tenant-dependencies.ts';
import type { AccessRuleRecord, IdentityReads } from '../../../application/ports/identity-reads.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type IdRequest, type Route, type RouteResponse, route } from '../../http/route.ts';
import { Id, IdParams, Timestamp, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';

const SHARED = {
  api: 'admin',
  tag: 'identity',
  access: { kind: 'session', roles: ['admin', 'super_admin'] },
} as const;

const Name = Type.String({ maxLength: 200 });
const Actions = Type.Array(Name, { maxItems: 20, description: 'Any of read, create, update, delete, publish and *' });
const FieldMask = Type.Array(Name, {
  maxItems: 1000,
  description: 'Names of fields that are hidden from reads and refused in writes',
});
const AccessRule = Type.Object({
  id: Id,
  role: Type.String(),
  schema_name: Type.String({ description: 'A content type, or * for every content type without its own rule' }),
  actions: Actions,
  field_mask: FieldMask,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type PermissionRouteDependencies = AccessRuleDependencies & { readonly reads: IdentityReads };

/** Access rules of the tenant. The routes need a session of an admin or a super admin. */
export function permissionRoutes(dependencies: PermissionRouteDependencies): readonly Route[] {
  const { reads } = dependencies;
  const one = { ...SHARED, params: IdParams, notFound: 'access_rule_not_found', precheck: existing } as const;

  /** @throws `access_rule_not_found` */
  async function existing({ params, tenant }: IdRequest): Promise<void> {
    if (!(await reads.accessRule({ tenant, ruleId: params.id }))) throw refusal('access_rule_not_found');
  }

  /** The rule after the write. Does not depend on the read model, which may lag behind. */
  async function saved(tenant: string, { ruleId, rule, changedAt, position }: SavedAccessRule): Promise<RouteResponse> {
    const stored = await reads.accessRule({ tenant, ruleId });
    const updatedAt = changedAt ?? stored?.updatedAt;
    if (!updatedAt) throw refusal('access_rule_not_found');
    return {
      status: 200,
      body: presentRule({ id: ruleId, ...rule, createdAt: stored?.createdAt ?? updatedAt, updatedAt }),
      ...commitAt(position, [IDENTITY]),
    };
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/permissions',
      operation: 'listAccessRules',
      summary: 'List access rules, by role and content type',
      query: Type.Object({ ...PageQuery.properties, role: Type.Optional(Name), schema_name: Type.Optional(Name) }),
      responses: { 200: Type.Array(AccessRule) },
      reads: [IDENTITY],
      handler: async ({ query, tenant }) => {
        const filter = { tenant, role: query.role, schemaName: query.schema_name };
        const rules = await reads.accessRules({ ...filter, limit: query.limit, offset: query.offset });
        return {
          status: 200,
          body: rules.map(presentRule),
          headers: await pageHeaders(query, () => reads.countAccessRules(filter)),
        };
      },
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/permissions',
      operation: 'putAccessRule',
      summary: 'Create or replace the access rule of a role for a content type',
      body: Type.Object(
        { role: Name, schema_name: Name, actions: Actions, field_mask: Type.Optional(FieldMask) },
        strict,
      ),
      responses: { 200: AccessRule },
      handler: async ({ body, tenant, context }) =>
        saved(tenant, await putAccessRule({ ...body, field_mask: body.field_mask ?? [] }, context, dependencies)),
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/permissions/{id}',
      operation: 'updateAccessRule',
      summary: 'Change the members of an access rule that the body contains',
      body: Type.Object(
        {
          role: Type.Optional(Name),
          schema_name: Type.Optional(Name),
          actions: Type.Optional(Actions),
          field_mask: Type.Optional(FieldMask),
        },
        strict,
      ),
      responses: { 200: AccessRule },
      refusals: ['access_rule_not_found', 'access_rule_exists'],
      handler: async ({ params, body, tenant, context }) =>
        saved(tenant, await changeAccessRule({ ruleId: params.id, changes: body }, context, dependencies)),
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/permissions/{id}',
      operation: 'deleteAccessRule',
      summary: 'Delete an access rule',
      responses: { 204: null },
      refusals: ['access_rule_not_found'],
      handler: async ({ params, context }) => ({
        status: 204,
        ...commitAt(await deleteAccessRule({ ruleId: params.id }, context, dependencies), [IDENTITY]),
      }),
    }),
  ];
}

function presentRule({
  id,
  role,
  schema_name,
  actions,
  field_mask,
  createdAt,
  updatedAt,
}: AccessRuleRecord): JsonObject {
  return {
    id,
    role,
    schema_name,
    actions,
    field_mask,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
