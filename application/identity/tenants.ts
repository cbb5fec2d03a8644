import type { CommandContext } from '../../domain/context.ts';
import type { FieldError } from '../../domain/errors.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { TenantSettings } from '../../domain/identity/tenant.ts';
import { normaliseDomain } from '../../domain/identity/tenant-domain.ts';
import { TENANT_SLUG } from '../../domain/stream.ts';
import { giveFirstRule } from './access-rules.ts';
import type { TenantDependencies } from './decide-on-tenant.ts';
import { decideOnTenant } from './decide-on-tenant.ts';
import type { IdentityReads, TenantRecord } from './identity-reads.ts';

export type ChangedTenantRecord = { readonly tenant: TenantRecord; readonly position: GlobalPosition | undefined };

/**
 * Makes a tenant, which begins with one access rule: `editor` on `*` with `*` (spec 4 A, tenants and access rules).
 * @throws `invalid_tenant_slug`, `validation_failed`, `tenant_exists` (also for a slug that was deleted), `tenant_domain_taken`
 */
export async function createTenant(dependencies: TenantDependencies, { slug, settings }: { readonly slug: string; readonly settings: TenantSettings }, context: CommandContext): Promise<ChangedTenantRecord> {
  if (!TENANT_SLUG.test(slug)) throw refusal('invalid_tenant_slug', { fields: [{ field: 'slug', message: 'is no slug' }] });
  const checked = { ...settings, ...checkSettings(settings) };
  const before = () => giveFirstRule(dependencies, slug, context);
  const { state, position, events } = await decideOnTenant(dependencies, { command: { kind: 'create', slug, settings: checked }, before }, context);
  const createdAt = new Date(events[0]?.metadata.occurred_at ?? context.now());
  return { tenant: { slug, name: state.name, domains: state.domains, disabled: state.disabled, createdAt, updatedAt: createdAt }, position };
}

/** Makes the tenant `default`, which is there from the first account on; nothing where it is there already. */
export async function foundHomeTenant(dependencies: TenantDependencies, context: CommandContext): Promise<void> {
  try {
    await createTenant(dependencies, { slug: HOME_TENANT, settings: { name: 'Default', domains: [], disabled: false } }, context);
  } catch (error) {
    if (!hasCode(error, 'tenant_exists')) throw error;
  }
}

/** Changes what is given of a tenant. @throws `validation_failed`, `tenant_not_found`, `tenant_domain_taken` */
export async function changeTenant(
  dependencies: TenantDependencies & { readonly reads: Pick<IdentityReads, 'tenant'> },
  { slug, settings }: { readonly slug: string; readonly settings: Partial<TenantSettings> },
  context: CommandContext,
): Promise<ChangedTenantRecord> {
  const known = await dependencies.reads.tenant(slug);
  if (!known) throw refusal('tenant_not_found');
  const { state, position, events } = await decideOnTenant(dependencies, { command: { kind: 'change', slug, settings: checkSettings(settings) } }, context);
  const { name, domains, disabled } = state;
  const [changed] = events;
  return { tenant: { ...known, name, domains, disabled, updatedAt: changed ? new Date(changed.metadata.occurred_at) : known.updatedAt }, position };
}

/**
 * Deletes a tenant: its streams stay, its rows leave every read model, its credentials stop (spec 4 A, tenants). `confirm` repeats the slug.
 * @returns position to wait for @throws `tenant_not_found`, `default_tenant_stays`, `validation_failed`
 */
export async function deleteTenant(dependencies: TenantDependencies, { slug, confirm }: { readonly slug: string; readonly confirm: string | undefined }, context: CommandContext): Promise<GlobalPosition | undefined> {
  if (slug === HOME_TENANT) throw refusal('default_tenant_stays');
  if (confirm !== slug) throw refusal('validation_failed', { fields: [{ field: 'confirm', message: 'must repeat the slug of the tenant' }] });
  return (await decideOnTenant(dependencies, { command: { kind: 'delete', slug } }, context)).position;
}

function checkSettings(settings: Partial<TenantSettings>): Partial<TenantSettings> {
  const fields: FieldError[] = [];
  const name = settings.name?.trim();
  if (name === '') fields.push({ field: 'name', message: 'must not be empty' });
  const domains = settings.domains?.map(normaliseDomain);
  if (domains?.includes(undefined) === true) fields.push({ field: 'domains', message: 'must be host names' });
  if (fields.length > 0) throw refusal('validation_failed', { fields });
  return {
    ...(name === undefined ? {} : { name }),
    ...(domains === undefined ? {} : { domains: [...new Set(domains.filter((domain) => domain !== undefined))] }),
    ...(settings.disabled === undefined ? {} : { disabled: settings.disabled }),
  };
}
