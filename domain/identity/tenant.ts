import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import { HOME_TENANT } from './memberships.ts';

/** What may change of a tenant. */
export type TenantSettings = {
  readonly name: string;
  /** Host names that resolve it, as `normaliseDomain` gives them. */
  readonly domains: readonly string[];
  readonly disabled: boolean;
};

/**
 * Events of a tenant, stream `tenant-default.<slug>`: tenants are facts of the install, as users are, so that who made, disabled and deleted
 * one stays to be read when it is gone.
 */
export type TenantEvent =
  | DomainEvent<'TenantCreated', { readonly slug: string } & TenantSettings>
  | DomainEvent<'TenantChanged', { readonly slug: string } & Partial<TenantSettings>>
  | DomainEvent<'TenantDeleted', { readonly slug: string }>;

export const TENANT_EVENT_TYPES: ReadonlySet<string> = new Set<TenantEvent['type']>(['TenantCreated', 'TenantChanged', 'TenantDeleted']);

/** Narrows a stored event. @throws TypeError for a type that is no event of a tenant */
export function parseTenantEvent(event: { readonly type: string; readonly data: JsonObject }): TenantEvent {
  if (!TENANT_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of a tenant: ${event.type}`);
  return { type: event.type, data: event.data } as TenantEvent;
}

export type TenantState = { readonly status: 'unknown' | 'active' | 'deleted' } & TenantSettings;

export type TenantCommand =
  | { readonly kind: 'create'; readonly slug: string; readonly settings: TenantSettings }
  | { readonly kind: 'change'; readonly slug: string; readonly settings: Partial<TenantSettings> }
  | { readonly kind: 'delete'; readonly slug: string };

/**
 * Decides on a tenant (spec 4 A, tenants). A slug is taken for ever; a change that changes nothing is none.
 * @throws `tenant_exists`, `tenant_not_found`, `default_tenant_stays`
 */
export function decideTenant(command: TenantCommand, state: TenantState): readonly TenantEvent[] {
  const { slug } = command;
  if (command.kind === 'create') {
    if (state.status !== 'unknown') throw refusal('tenant_exists');
    return [{ type: 'TenantCreated', data: { slug, ...command.settings } }];
  }
  if (state.status !== 'active') throw refusal('tenant_not_found');
  if (command.kind === 'delete') {
    if (slug === HOME_TENANT) throw refusal('default_tenant_stays');
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

export const tenantDecider: Decider<TenantState, TenantEvent> = {
  initialState: () => ({ status: 'unknown', name: '', domains: [], disabled: false }),
  evolve(state, event) {
    if (event.type === 'TenantDeleted') return { ...state, status: 'deleted', domains: [] };
    const { slug: _slug, ...settings } = event.data;
    return { ...state, ...settings, status: 'active' };
  },
};

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
