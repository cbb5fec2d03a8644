import { Type } from '@sinclair/typebox';
import type { Features } from '../../../application/platform/features.ts';
import { type FeatureChangeDependencies, PLATFORM } from '../../../application/platform/wait-for-feature-change.ts';
import { withholdFeatures } from '../../../application/platform/withhold-features.ts';
import { refusal } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { commitAt } from '../../http/commit.ts';
import { type Route, route } from '../../http/route.ts';
import { strict } from '../../http/schemas.ts';

export type TenantFeatureRouteDependencies = Omit<FeatureChangeDependencies, 'features'> & {
  readonly features: Pick<Features, 'reload' | 'withheldFrom'>;
  /** The state of a tenant. @returns undefined for an unknown slug */
  readonly tenantState: (slug: string) => string | undefined;
};

const TenantParams = Type.Object({ tenant: Type.String() });
const SHARED = {
  api: 'admin',
  tag: 'platform',
  path: '/api/admin/tenant-features/{tenant}',
  params: TenantParams,
  notFound: 'tenant_not_found',
  access: { kind: 'session', roles: ['super_admin'] },
} as const;
const MAX_NAMES = 100;
const WithheldFeatures = Type.Object(
  { withheld: Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_NAMES }) },
  strict,
);

/** Features withheld from one tenant, whose routes return 404 there. The routes need a session of a super admin. */
export function tenantFeatureRoutes(dependencies: TenantFeatureRouteDependencies): readonly Route[] {
  const { features, tenantState } = dependencies;
  const present = (tenant: string): JsonObject => ({ withheld: features.withheldFrom(tenant) });

  function exists({ params: { tenant } }: { readonly params: { readonly tenant: string } }): void {
    if (tenantState(tenant) === undefined) throw refusal('tenant_not_found');
  }

  return [
    route({
      ...SHARED,
      method: 'GET',
      operation: 'getTenantFeatures',
      summary: 'List the features withheld from a tenant',
      responses: { 200: WithheldFeatures },
      refusals: ['tenant_not_found'],
      precheck: exists,
      reads: [PLATFORM],
      handler: ({ params }) => Promise.resolve({ status: 200, body: present(params.tenant) }),
    }),
    route({
      ...SHARED,
      method: 'PUT',
      operation: 'setTenantFeatures',
      summary: 'Replace the list of features withheld from a tenant',
      body: WithheldFeatures,
      responses: { 200: WithheldFeatures },
      refusals: ['tenant_not_found'],
      precheck: exists,
      handler: async ({ params, body, context }) => {
        const position = await withholdFeatures(
          { tenant: params.tenant, withheld: body.withheld },
          context,
          dependencies,
        );
        return {
          status: 200,
          body: present(params.tenant),
          ...commitAt(position, [PLATFORM]),
        };
      },
    }),
  ];
}
