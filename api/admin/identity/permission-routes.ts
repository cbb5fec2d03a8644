import { Type } from '@sinclair/typebox';
import type { SavedAccessRule } from '../../../application/identity/access-rules.ts';
import { changeAccessRule, deleteAccessRule, putAccessRule } from '../../../application/identity/access-rules.ts';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import type { AccessRuleRecord } from '../../../application/identity/identity-reads.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Answer, Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { commitAt } from './credentials-answer.ts';
import { Page, pageHeaders } from './paging.ts';

const Id = Type.Object({ id: Type.String({ format: 'uuid' }) });
const Time = Type.String({ format: 'date-time' });
const Name = Type.String({ maxLength: 200 });
const Actions = Type.Array(Name, { maxItems: 20, description: 'of read, create, update, delete, publish, *' });
const FieldMask = Type.Array(Name, { maxItems: 1000, description: 'names of fields hidden from reads and refused in writes' });
const AccessRule = Type.Object({
  id: Type.String({ format: 'uuid' }),
  role: Type.String(),
  schema_name: Type.String({ description: 'a content type, or * for every one without a rule of its own' }),
  actions: Actions,
  field_mask: FieldMask,
  created_at: Time,
  updated_at: Time,
});
const strict = { additionalProperties: false };

/** Access rules of the tenant (spec 4 A, access rules; admin or super_admin in a signed-in session). */
export function permissionRoutes(dependencies: IdentityDependencies): readonly Route[] {
  const { reads } = dependencies;
  const shared = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['admin', 'super_admin'] } } as const;
  const one = { ...shared, params: Id, notFound: 'access_rule_not_found', precheck: existing } as const;

  /** A missing rule wins over a bad body (spec 4 A, order of refusals). */
  async function existing({ params, tenant }: { readonly params: { readonly id: string }; readonly tenant: string }): Promise<void> {
    if (!(await reads.accessRule({ tenant, ruleId: params.id }))) throw refusal('access_rule_not_found');
  }

  /** The rule as the write left it, also where the read model lags. */
  async function saved(tenant: string, { ruleId, rule, changedAt, position }: SavedAccessRule): Promise<Answer> {
    const stored = await reads.accessRule({ tenant, ruleId });
    const updatedAt = changedAt ?? stored?.updatedAt;
    if (!updatedAt) throw refusal('access_rule_not_found');
    return { status: 200, body: presentRule({ id: ruleId, ...rule, createdAt: stored?.createdAt ?? updatedAt, updatedAt }), ...commitAt(position) };
  }

  return [
    route({
      ...shared, method: 'GET', path: '/api/admin/permissions', operation: 'listAccessRules', summary: 'Access rules by role and content type',
      query: Type.Object({ ...Page.properties, role: Type.Optional(Name), schema_name: Type.Optional(Name) }),
      answers: { 200: Type.Array(AccessRule) }, reads: ['identity'],
      handler: async ({ query, tenant }) => {
        const filter = { tenant, role: query.role, schemaName: query.schema_name };
        const rules = await reads.accessRules({ ...filter, limit: query.limit, offset: query.offset });
        return { status: 200, body: rules.map(presentRule), headers: await pageHeaders(query, () => reads.countAccessRules(filter)) };
      },
    }),
    route({
      ...shared, method: 'POST', path: '/api/admin/permissions', operation: 'putAccessRule', summary: 'Makes the rule of a role for a content type, in place of the one there is',
      body: Type.Object({ role: Name, schema_name: Name, actions: Actions, field_mask: Type.Optional(FieldMask) }, strict),
      answers: { 200: AccessRule },
      handler: async ({ body, tenant, context }) => saved(tenant, await putAccessRule(dependencies, { ...body, field_mask: body.field_mask ?? [] }, context)),
    }),
    route({
      ...one, method: 'PUT', path: '/api/admin/permissions/{id}', operation: 'updateAccessRule', summary: 'Changes what the body carries of a rule',
      body: Type.Object({ role: Type.Optional(Name), schema_name: Type.Optional(Name), actions: Type.Optional(Actions), field_mask: Type.Optional(FieldMask) }, strict),
      answers: { 200: AccessRule }, refusals: ['access_rule_not_found', 'access_rule_exists'],
      handler: async ({ params, body, tenant, context }) => saved(tenant, await changeAccessRule(dependencies, { ruleId: params.id, changes: body }, context)),
    }),
    route({
      ...one, method: 'DELETE', path: '/api/admin/permissions/{id}', operation: 'deleteAccessRule', summary: 'Deletes a rule',
      answers: { 204: null }, refusals: ['access_rule_not_found'],
      handler: async ({ params, context }) => ({ status: 204, ...commitAt(await deleteAccessRule(dependencies, { ruleId: params.id }, context)) }),
    }),
  ];
}

function presentRule({ id, role, schema_name, actions, field_mask, createdAt, updatedAt }: AccessRuleRecord): JsonObject {
  return { id, role, schema_name, actions, field_mask, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
