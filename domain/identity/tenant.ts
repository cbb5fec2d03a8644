import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import { sameList } from '../same-list.ts';
import { DEFAULT_TENANT } from './memberships.ts';
import type { TenantEvent, TenantSettings } from './tenant-events.ts';

export type TenantState = { readonly status: 'unknown' | 'active' | 'deleted' } & TenantSettings;

export type TenantCommand =
  | { readonly kind: 'create'; readonly slug: string; readonly settings: TenantSettings }
  | { readonly kind: 'change'; readonly slug: string; readonly settings: Partial<TenantSettings> }
  | { readonly kind: 'delete'; readonly slug: string };

export const tenantDecider: Decider<TenantState, TenantCommand, TenantEvent> = {
  initialState: () => ({ status: 'unknown', name: '', domains: [], disabled: false }),
  decide,
  evolve,
};

/**
 * The slug of a deleted tenant cannot be used again. Events carry only the settings that change.
 * @throws `tenant_exists`, `tenant_not_found`, `default_tenant_stays`
 */
function decide(state: TenantState, command: TenantCommand): readonly TenantEvent[] {
  const { slug } = command;
  if (command.kind === 'create') {
    if (state.status !== 'unknown') throw refusal('tenant_exists');
    return [{ type: 'TenantCreated', data: { slug, ...command.settings } }];
  }
  if (state.status !== 'active') throw refusal('tenant_not_found');
  if (command.kind === 'delete') {
    if (slug === DEFAULT_TENANT) throw refusal('default_tenant_stays');
    return [{ type: 'TenantDeleted', data: { slug } }];
  }
  const { name, domains, disabled } = command.settings;
  const changed = {
    ...(name === undefined || name === state.name ? {} : { name }),
    ...(domains === undefined || sameList(domains, state.domains) ? {} : { domains }),
    ...(disabled === undefined || disabled === state.disabled ? {} : { disabled }),
  };
  return Object.keys(changed).length === 0 ? [] : [{ type: 'TenantChanged', data: { slug, ...changed } }];
}

function evolve(state: TenantState, event: TenantEvent): TenantState {
  if (event.type === 'TenantDeleted') return { ...state, status: 'deleted', domains: [] };
  const { slug: _slug, ...settings } = event.data;
  return { ...state, ...settings, status: 'active' };
}
