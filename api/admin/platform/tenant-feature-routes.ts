import { Type } from '@sinclair/typebox';
import type { FeatureChanges } from '../../../application/platform/feature-changes.ts';
import { PLATFORM } from '../../../application/platform/feature-changes.ts';
import type { Features } from '../../../application/platform/features.ts';
import { withholdFeatures } from '../../../application/platform/withhold-features.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';

export type TenantFeatureRouteDependencies = Omit<FeatureChanges, 'features'> & {
  readonly features: Pick<Features, 'reload' | 'withheldFrom'>;
  /** @returns undefined for a slug that names no tenant */
  readonly tenantState: (slug: string) => string | undefined;
};

const Params = Type.Object({ tenant: Type.String() });
const MAX_NAMES = 100;
const Withheld = Type.Object({ withheld: Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_NAMES }) }, { additionalProperties: false });

/** Features withheld from one tenant: they answer 404 there (spec 1, features; super_admin in a signed-in session). */
export function tenantFeatureRoutes(dependencies: TenantFeatureRouteDependencies): readonly Route[] {
  const { features, tenantState } = dependencies;
  const shared = {
    api: 'admin', tag: 'platform', path: '/api/admin/tenant-features/{tenant}', params: Params, notFound: 'tenant_not_found', access: { kind: 'session', roles: ['super_admin'] }, precheck: exists,
  } as const;
  const present = (tenant: string): JsonObject => ({ withheld: features.withheldFrom(tenant) });

  function exists({ params: { tenant } }: { readonly params: { readonly tenant: string } }): Promise<void> {
    if (tenantState(tenant) === undefined) throw refusal('tenant_not_found');
    return Promise.resolve();
  }

  return [
    route({
      ...shared, method: 'GET', operation: 'getTenantFeatures', summary: 'Features withheld from a tenant',
      answers: { 200: Withheld }, refusals: ['tenant_not_found'], reads: [PLATFORM],
      handler: ({ params }) => Promise.resolve({ status: 200, body: present(params.tenant) }),
    }),
    route({
      ...shared, method: 'PUT', operation: 'setTenantFeatures', summary: 'Replaces the list of features withheld from a tenant',
      body: Withheld, answers: { 200: Withheld }, refusals: ['tenant_not_found'],
      handler: async ({ params, body, context }) => {
        const position = await withholdFeatures(dependencies, { tenant: params.tenant, withheld: body.withheld }, context);
        return { status: 200, body: present(params.tenant), ...(position === undefined ? {} : { commit: { position, readModels: [PLATFORM] } }) };
      },
    }),
  ];
}
