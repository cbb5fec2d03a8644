import type { CommandContext } from '../../domain/context.ts';
import { hasCode } from '../../domain/errors.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { createTenant } from './create-tenant.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

/** Creates the default tenant unless it exists. */
export async function ensureDefaultTenant(context: CommandContext, dependencies: TenantDependencies): Promise<void> {
  try {
    await createTenant(
      { slug: DEFAULT_TENANT, settings: { name: 'Default', domains: [], disabled: false } },
      context,
      dependencies,
    );
  } catch (error) {
    if (!hasCode(error, 'tenant_exists')) throw error;
  }
}
