import { Type } from '@sinclair/typebox';
import type { IdentityDependencies } from '../../../application/identity/dependencies.ts';
import type { TenantRecord } from '../../../application/identity/identity-reads.ts';
import { changeTenant, createTenant, deleteTenant } from '../../../application/identity/tenants.ts';
import type { FieldError } from '../../../domain/errors.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { commitAt } from './credentials-answer.ts';
import { Page, pageHeaders } from './paging.ts';

const Time = Type.String({ format: 'date-time' });
const Slug = Type.Object({ slug: Type.String() });
const Tenant = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  domains: Type.Array(Type.String(), { description: 'host names that resolve the tenant for requests without a credential' }),
  disabled: Type.Boolean(),
  created_at: Time,
  updated_at: Time,
});
const settings = {
  name: Type.Optional(Type.String({ maxLength: 200 })),
  domains: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
  disabled: Type.Optional(Type.Boolean()),
};
const strict = { additionalProperties: false };

export type TenantRouteDependencies = {
  /** Names of all read models: a deletion is answered when the tenant's rows are gone from them. */
  readonly readModels: readonly string[];
};

/** Tenants of the install (spec 4 A, tenants; super_admin in a signed-in session). */
export function tenantRoutes(dependencies: IdentityDependencies & TenantRouteDependencies): readonly Route[] {
  const { reads, tenants, readModels } = dependencies;
  const shared = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['super_admin'] } } as const;
  const one = { ...shared, params: Slug, notFound: 'tenant_not_found', precheck: existing } as const;

  /** A missing tenant wins over a bad body (spec 4 A, order of refusals). */
  function existing({ params }: { readonly params: { readonly slug: string } }): Promise<void> {
    return tenants.state(params.slug) === undefined ? Promise.reject(refusal('tenant_not_found')) : Promise.resolve();
  }

  return [
    route({
      ...shared, method: 'GET', path: '/api/admin/tenants', operation: 'listTenants', summary: 'Tenants, oldest first',
      query: Page, answers: { 200: Type.Array(Tenant) }, reads: ['identity'],
      handler: async ({ query }) => ({ status: 200, body: (await reads.tenants(query)).map(presentTenant), headers: await pageHeaders(query, reads.countTenants) }),
    }),
    route({
      ...shared, method: 'POST', path: '/api/admin/tenants', operation: 'createTenant', summary: 'Makes a tenant; its one access rule lets editors do everything',
      body: Type.Object({ slug: Type.String({ maxLength: 63 }), ...settings }, strict), refuseBody,
      answers: { 201: Tenant }, refusals: ['invalid_tenant_slug', 'tenant_exists', 'tenant_domain_taken'],
      handler: async ({ body: { slug, name = slug, domains = [], disabled = false }, context }) => {
        const { tenant, position } = await createTenant(dependencies, { slug, settings: { name, domains, disabled } }, context);
        return { status: 201, body: presentTenant(tenant), ...commitAt(position) };
      },
    }),
    route({
      ...one, method: 'GET', path: '/api/admin/tenants/{slug}', operation: 'getTenant', summary: 'One tenant',
      answers: { 200: Tenant }, refusals: ['tenant_not_found'], reads: ['identity'],
      handler: async ({ params }) => {
        const tenant = await reads.tenant(params.slug);
        if (!tenant) throw refusal('tenant_not_found');
        return { status: 200, body: presentTenant(tenant) };
      },
    }),
    route({
      ...one, method: 'PUT', path: '/api/admin/tenants/{slug}', operation: 'updateTenant', summary: 'Changes what the body carries',
      body: Type.Object(settings, strict),
      answers: { 200: Tenant }, refusals: ['tenant_not_found', 'tenant_domain_taken'],
      handler: async ({ params, body, context }) => {
        const { tenant, position } = await changeTenant(dependencies, { slug: params.slug, settings: body }, context);
        return { status: 200, body: presentTenant(tenant), ...commitAt(position) };
      },
    }),
    route({
      ...one, method: 'DELETE', path: '/api/admin/tenants/{slug}', operation: 'deleteTenant', summary: 'Deletes a tenant with all that is shown of it; its history is kept',
      query: Type.Object({ confirm: Type.Optional(Type.String({ description: 'the slug again' })) }),
      answers: { 204: null }, refusals: ['tenant_not_found', 'default_tenant_stays', 'validation_failed'],
      handler: async ({ params, query, context }) => {
        const position = await deleteTenant(dependencies, { slug: params.slug, confirm: query.confirm }, context);
        return { status: 204, ...(position === undefined ? {} : { commit: { position, readModels } }) };
      },
    }),
  ];
}

/** A slug that is none has a message of its own. */
function refuseBody(problems: readonly FieldError[]): Error {
  const fields = problems.map(({ field, message }) => ({ field, message }));
  return refusal(fields.some(({ field }) => field === 'slug') ? 'invalid_tenant_slug' : 'validation_failed', { fields });
}

function presentTenant({ slug, name, domains, disabled, createdAt, updatedAt }: TenantRecord): JsonObject {
  return { slug, name, domains, disabled, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
