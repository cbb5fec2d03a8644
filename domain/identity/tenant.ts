import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import { sameList } from '../same-list.ts';
import { DEFAULT_TENANT } from './memberships.ts';
import type { TenantEvent, TenantSettings } from './tenant-events.ts';

type Tenant = TenantSettings & { readonly status: 'active' | 'deleted' };

/** Undefined before the first event. */
export type TenantState = Tenant | undefined;

export type TenantCommand =
  | { readonly kind: 'create'; readonly slug: string; readonly settings: TenantSettings }
  | { readonly kind: 'change'; readonly slug: string; readonly settings: Partial<TenantSettings> }
  | { readonly kind: 'delete'; readonly slug: string };

type CommandOf<Kind extends TenantCommand['kind']> = Extract<TenantCommand, { readonly kind: Kind }>;

export const tenantDecider: Decider<TenantState, TenantCommand, TenantEvent> = { initialState, decide, evolve };

function initialState(): TenantState {
  return undefined;
}

/**
 * The slug of a deleted tenant cannot be used again. Events carry only the settings that change.
 * @throws `tenant_exists`, `tenant_not_found`, `default_tenant_stays`
 */
function decide(state: TenantState, command: TenantCommand): readonly TenantEvent[] {
  switch (command.kind) {
    case 'create':
      // The id of a tenant is its slug, which the caller chooses. So the refusal says what is in use.
      if (state) throw refusal('tenant_exists');
      return [{ type: 'TenantCreated', data: { slug: command.slug, ...command.settings } }];
    case 'change':
      return change(existing(state), command);
    case 'delete':
      existing(state);
      if (command.slug === DEFAULT_TENANT) throw refusal('default_tenant_stays');
      return [{ type: 'TenantDeleted', data: { slug: command.slug } }];
  }
}

function existing(state: TenantState): Tenant {
  if (state?.status !== 'active') throw refusal('tenant_not_found');
  return state;
}

function change(tenant: Tenant, { slug, settings }: CommandOf<'change'>): readonly TenantEvent[] {
  const { name, domains, disabled } = settings;
  const changed = {
    ...(name === undefined || name === tenant.name ? {} : { name }),
    ...(domains === undefined || sameList(domains, tenant.domains) ? {} : { domains }),
    ...(disabled === undefined || disabled === tenant.disabled ? {} : { disabled }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'TenantChanged', data: { slug, ...changed } }];
}

function evolve(state: TenantState, event: TenantEvent): TenantState {
  switch (event.type) {
    case 'TenantCreated': {
      const { slug: _slug, ...settings } = event.data;
      return { ...settings, status: 'active' };
    }
    case 'TenantChanged': {
      const { slug: _slug, ...changed } = event.data;
      return state && { ...state, ...changed };
    }
    case 'TenantDeleted':
      return state && { ...state, status: 'deleted', domains: [] };
  }
}
