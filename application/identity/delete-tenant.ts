import type { CommandContext } from '../../domain/context.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { decideOnTenant } from './decide-on-tenant.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

/**
 * Deletes a tenant: its streams stay, its rows leave every read model, its credentials stop working.
 * @param input `confirm` must repeat the slug.
 * @returns the position to wait for
 * @throws `tenant_not_found`, `default_tenant_stays`, `validation_failed`
 */
export async function deleteTenant(
  { slug, confirm }: { readonly slug: string; readonly confirm: string | undefined },
  context: CommandContext,
  dependencies: TenantDependencies,
): Promise<GlobalPosition | undefined> {
  if (slug === DEFAULT_TENANT) throw refusal('default_tenant_stays');
  if (confirm !== slug) throw invalidField('confirm', 'must repeat the slug of the tenant');
  const { position } = await decideOnTenant(
    { slug, commandFor: () => ({ kind: 'delete', slug }) },
    context,
    dependencies,
  );
  return position;
}
