import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { TenantSettings } from '../../domain/identity/tenant-events.ts';
import type { IdentityReads, SavedTenant } from '../ports/identity-reads.ts';
import { checkTenantSettings } from './check-tenant-settings.ts';
import { decideOnTenant } from './decide-on-tenant.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

/** Changes the given settings of a tenant. @throws `validation_failed`, `tenant_not_found`, `tenant_domain_taken` */
export async function changeTenant(
  { slug, settings }: { readonly slug: string; readonly settings: Partial<TenantSettings> },
  context: CommandContext,
  dependencies: TenantDependencies & { readonly reads: Pick<IdentityReads, 'tenant'> },
): Promise<SavedTenant> {
  const tenant = await dependencies.reads.tenant(slug);
  if (!tenant) throw refusal('tenant_not_found');
  const checked = checkTenantSettings(settings);
  const { state, position, events } = await decideOnTenant(
    { slug, commandFor: () => ({ kind: 'change', slug, settings: checked }) },
    context,
    dependencies,
  );
  const { name, domains, disabled } = state ?? tenant;
  const [changed] = events;
  return {
    tenant: {
      ...tenant,
      name,
      domains,
      disabled,
      updatedAt: changed ? new Date(changed.metadata.occurred_at) : tenant.updatedAt,
    },
    position,
  };
}
