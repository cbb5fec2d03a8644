import { Type } from '@sinclair/typebox';
import { changeTenant } from '../../../application/identity/change-tenant.ts';
import { createTenant } from '../../../application/identity/create-tenant.ts';
import { deleteTenant } from '../../../application/identity/delete-tenant.ts';
import { IDENTITY } from '../../../application/identity/identity-read-model.ts';
import type { TenantDependencies } from '../../../application/identity/tenant-dependencies.ts';
import type { TenantDirectory } from '../../../application/identity/tenant-directory.ts';
import type { IdentityReads, TenantRecord } from '../../../application/ports/identity-reads.ts';
import { type FieldError, refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { Timestamp, strict } from '../../http/schemas.ts';
import { PageQuery, pageHeaders } from '../paging.ts';
import { TenantSlug } from './schemas.ts';

const SHARED = { api: 'admin', tag: 'identity', access: { kind: 'session', roles: ['super_admin'] } } as const;

const SlugParams = Type.Object({ slug: Type.String() });
const Tenant = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  domains: Type.Array(Type.String(), {
    description: 'Host names that select the tenant of requests without a credential',
  }),
  disabled: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const settings = {
  name: Type.Optional(Type.String({ maxLength: 200 })),
  domains: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
  disabled: Type.Optional(Type.Boolean()),
};
export type TenantRouteDependencies = TenantDependencies & {
  readonly reads: IdentityReads;
  readonly tenants: Pick<TenantDirectory, 'state'>;
  /** Names of all read models. The response to a deletion waits until they have deleted the rows of the tenant. */
  readonly readModels: readonly string[];
};

/** Tenants of the installation. The routes need a session of a super admin. */
export function tenantRoutes(dependencies: TenantRouteDependencies): readonly Route[] {
  const { reads, tenants, readModels } = dependencies;
  const one = { ...SHARED, params: SlugParams, notFound: 'tenant_not_found', precheck: existing } as const;

  /** @throws `tenant_not_found` */
  function existing({ params }: { readonly params: { readonly slug: string } }): void {
    if (tenants.state(params.slug) === undefined) throw refusal('tenant_not_found');
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      path: '/api/admin/tenants',
      operation: 'listTenants',
      summary: 'List tenants, oldest first',
      query: PageQuery,
      responses: { 200: Type.Array(Tenant) },
      reads: [IDENTITY],
      handler: async ({ query }) => ({
        status: 200,
        body: (await reads.tenants(query)).map(presentTenant),
        headers: await pageHeaders(query, reads.countTenants),
      }),
    }),
    route({
      ...SHARED,
      method: 'POST',
      path: '/api/admin/tenants',
      operation: 'createTenant',
      summary: 'Create a tenant. Its only access rule allows editors everything',
      body: Type.Object({ slug: TenantSlug, ...settings }, strict),
      bodyRefusal: newTenantRefusal,
      responses: { 201: Tenant },
      refusals: ['invalid_tenant_slug', 'tenant_exists', 'tenant_domain_taken'],
      handler: async ({ body: { slug, name = slug, domains = [], disabled = false }, context }) => {
        const { tenant, position } = await createTenant(
          { slug, settings: { name, domains, disabled } },
          context,
          dependencies,
        );
        return { status: 201, body: presentTenant(tenant), ...commitAt(position, [IDENTITY]) };
      },
    }),
    route({
      ...one,
      method: 'GET',
      path: '/api/admin/tenants/{slug}',
      operation: 'getTenant',
      summary: 'Get a tenant',
      responses: { 200: Tenant },
      refusals: ['tenant_not_found'],
      reads: [IDENTITY],
      handler: async ({ params }) => {
        const tenant = await reads.tenant(params.slug);
        if (!tenant) throw refusal('tenant_not_found');
        return { status: 200, body: presentTenant(tenant) };
      },
    }),
    route({
      ...one,
      method: 'PUT',
      path: '/api/admin/tenants/{slug}',
      operation: 'updateTenant',
      summary: 'Change the members of a tenant that the body contains',
      body: Type.Object(settings, strict),
      responses: { 200: Tenant },
      refusals: ['tenant_not_found', 'tenant_domain_taken'],
      handler: async ({ params, body, context }) => {
        const { tenant, position } = await changeTenant({ slug: params.slug, settings: body }, context, dependencies);
        return { status: 200, body: presentTenant(tenant), ...commitAt(position, [IDENTITY]) };
      },
    }),
    route({
      ...one,
      method: 'DELETE',
      path: '/api/admin/tenants/{slug}',
      operation: 'deleteTenant',
      summary: 'Delete a tenant and all its data in the read models. Its events are kept',
      query: Type.Object({ confirm: Type.Optional(Type.String({ description: 'The slug again, as a confirmation' })) }),
      responses: { 204: null },
      refusals: ['tenant_not_found', 'default_tenant_stays', 'validation_failed'],
      handler: async ({ params, query, context }) => {
        const position = await deleteTenant({ slug: params.slug, confirm: query.confirm }, context, dependencies);
        return { status: 204, ...commitAt(position, readModels) };
      },
    }),
  ];
}

/** The refusal of an invalid new tenant: `invalid_tenant_slug` for an invalid slug, else `validation_failed`. */
function newTenantRefusal(problems: readonly FieldError[]): Error {
  const code = problems.some(({ field }) => field === 'slug') ? 'invalid_tenant_slug' : 'validation_failed';
  return refusal(code, { fields: problems });
}

function presentTenant({ slug, name, domains, disabled, createdAt, updatedAt }: TenantRecord): JsonObject {
  return { slug, name, domains, disabled, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
