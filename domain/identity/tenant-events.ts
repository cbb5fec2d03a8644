import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';

export type TenantSettings = {
  readonly name: string;
  /** Host names that resolve to the tenant, in the form of `normaliseDomain`. */
  readonly domains: readonly string[];
  readonly disabled: boolean;
};

/**
 * Events of a tenant, stream `tenant-default.<slug>`. The streams belong to the default tenant, so the history of a
 * deleted tenant stays readable.
 */
export type TenantEvent =
  | DomainEvent<'TenantCreated', { readonly slug: string } & TenantSettings>
  | DomainEvent<'TenantChanged', { readonly slug: string } & Partial<TenantSettings>>
  | DomainEvent<'TenantDeleted', { readonly slug: string }>;

export const tenantEvents = eventParser<TenantEvent>('tenant', ['TenantCreated', 'TenantChanged', 'TenantDeleted']);
