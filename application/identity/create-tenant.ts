import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { TenantSettings } from '../../domain/identity/tenant-events.ts';
import { TENANT_SLUG } from '../../domain/stream.ts';
import type { SavedTenant } from '../ports/identity-reads.ts';
import { checkTenantSettings } from './check-tenant-settings.ts';
import { createFirstAccessRule } from './create-first-access-rule.ts';
import { decideOnTenant } from './decide-on-tenant.ts';
import type { TenantDependencies } from './tenant-dependencies.ts';

/**
 * Creates a tenant with its first access rule: `editor` on `*` with the actions `*`.
 * @throws `invalid_tenant_slug`, `validation_failed`, `tenant_exists` (also for the slug of a deleted tenant),
 *   `tenant_domain_taken`
 */
export async function createTenant(
  { slug, settings }: { readonly slug: string; readonly settings: TenantSettings },
  context: CommandContext,
  dependencies: TenantDependencies,
): Promise<SavedTenant> {
  if (!TENANT_SLUG.test(slug))
    throw refusal('invalid_tenant_slug', { fields: [{ field: 'slug', message: 'is not a valid slug' }] });
  const checked = { ...settings, ...checkTenantSettings(settings) };
  const before = () => createFirstAccessRule({ tenant: slug }, context, dependencies);
  const { state, position, events } = await decideOnTenant(
    { slug, commandFor: () => ({ kind: 'create', slug, settings: checked }), before },
    context,
    dependencies,
  );
  const createdAt = new Date(events[0]?.metadata.occurred_at ?? context.now());
  const { name, domains, disabled } = state ?? checked;
  return { tenant: { slug, name, domains, disabled, createdAt, updatedAt: createdAt }, position };
}
