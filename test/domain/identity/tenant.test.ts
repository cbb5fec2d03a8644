import type { TenantEvent, TenantSettings } from '../../../domain/identity/tenant-events.ts';
import { type TenantCommand, tenantDecider } from '../../../domain/identity/tenant.ts';
import { given } from '../../support/given.ts';

describe('a tenant', () => {
  const settings: TenantSettings = { name: 'Acme', domains: ['acme.test'], disabled: false };
  const created: TenantEvent = { type: 'TenantCreated', data: { slug: 'acme', ...settings } };
  const deleted: TenantEvent = { type: 'TenantDeleted', data: { slug: 'acme' } };
  const create: TenantCommand = { kind: 'create', slug: 'acme', settings };
  const remove: TenantCommand = { kind: 'delete', slug: 'acme' };
  const change = (changes: Partial<TenantSettings>): TenantCommand => ({
    kind: 'change',
    slug: 'acme',
    settings: changes,
  });

  it('is created once', () => {
    given(tenantDecider, []).when(create).thenAppends([created]);
    given(tenantDecider, [created]).when(create).thenRefuses('tenant_exists');
  });
  it('keeps its slug taken after it was deleted', () => {
    given(tenantDecider, [created, deleted]).when(create).thenRefuses('tenant_exists');
  });
  it('records only the settings that change', () => {
    given(tenantDecider, [created])
      .when(change({ name: 'Acme', disabled: true }))
      .thenAppends([{ type: 'TenantChanged', data: { slug: 'acme', disabled: true } }]);
  });
  it('does not change when the settings are the current ones', () => {
    given(tenantDecider, [created]).when(change(settings)).thenAppendsNothing();
  });
  it('loses its domains', () => {
    given(tenantDecider, [created])
      .when(change({ domains: [] }))
      .thenAppends([{ type: 'TenantChanged', data: { slug: 'acme', domains: [] } }]);
  });
  it('is deleted once', () => {
    given(tenantDecider, [created]).when(remove).thenAppends([deleted]);
    given(tenantDecider, [created, deleted]).when(remove).thenRefuses('tenant_not_found');
  });
  it('is not found before it was created', () => {
    given(tenantDecider, [])
      .when(change({ name: 'x' }))
      .thenRefuses('tenant_not_found');
  });
  it('is not deleted when it is the default tenant', () => {
    given(tenantDecider, [
      { type: 'TenantCreated', data: { slug: 'default', name: 'Default', domains: [], disabled: false } },
    ])
      .when({ kind: 'delete', slug: 'default' })
      .thenRefuses('default_tenant_stays');
  });
});
