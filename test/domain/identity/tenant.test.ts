import { expect } from 'chai';
import { normaliseDomain } from '../../../domain/identity/tenant-domain.ts';
import type { TenantCommand, TenantEvent } from '../../../domain/identity/tenant.ts';
import { decideTenant, tenantDecider } from '../../../domain/identity/tenant.ts';

const created: TenantEvent = { type: 'TenantCreated', data: { slug: 'acme', name: 'Acme', domains: ['acme.test'], disabled: false } };
const deleted: TenantEvent = { type: 'TenantDeleted', data: { slug: 'acme' } };
const change = (settings: Extract<TenantCommand, { kind: 'change' }>['settings']): TenantCommand => ({ kind: 'change', slug: 'acme', settings });
const create: TenantCommand = { kind: 'create', slug: 'acme', settings: { name: 'Acme', domains: ['acme.test'], disabled: false } };

const cases: Readonly<Record<string, { given: readonly TenantEvent[]; when: TenantCommand; then: readonly TenantEvent[] | string }>> = {
  'is created': { given: [], when: create, then: [created] },
  'is created once': { given: [created], when: create, then: 'tenant_exists' },
  'leaves its slug taken when it is deleted': { given: [created, deleted], when: create, then: 'tenant_exists' },
  'changes in what differs': { given: [created], when: change({ name: 'Acme', disabled: true }), then: [{ type: 'TenantChanged', data: { slug: 'acme', disabled: true } }] },
  'does not change into itself': { given: [created], when: change({ name: 'Acme', domains: ['acme.test'], disabled: false }), then: [] },
  'loses its domains': { given: [created], when: change({ domains: [] }), then: [{ type: 'TenantChanged', data: { slug: 'acme', domains: [] } }] },
  'is deleted': { given: [created], when: { kind: 'delete', slug: 'acme' }, then: [deleted] },
  'is deleted once': { given: [created, deleted], when: { kind: 'delete', slug: 'acme' }, then: 'tenant_not_found' },
  'that is not there does not change': { given: [], when: change({ name: 'x' }), then: 'tenant_not_found' },
  'that is called default stays': {
    given: [{ type: 'TenantCreated', data: { slug: 'default', name: 'Default', domains: [], disabled: false } }], when: { kind: 'delete', slug: 'default' }, then: 'default_tenant_stays',
  },
};

describe('a tenant', () => {
  for (const [title, { given, when, then }] of Object.entries(cases)) {
    it(title, () => {
      const decide = () => decideTenant(when, given.reduce(tenantDecider.evolve, tenantDecider.initialState()));
      if (typeof then !== 'string') expect(decide()).to.deep.equal(then);
      else expect(decide).to.throw().with.property('code', then);
    });
  }
});

describe('a domain of a tenant', () => {
  it('is compared without case, port and closing dot, in the form that browsers send', () => {
    for (const [given, wanted] of [
      ['Acme.Example.COM', 'acme.example.com'], ['acme.test:8080', 'acme.test'], ['acme.test.', 'acme.test'], [' acme.test ', 'acme.test'], ['münchen.test', 'xn--mnchen-3ya.test'],
      ['127.0.0.1:3002', '127.0.0.1'], ['localhost', 'localhost'],
    ] as const) expect(normaliseDomain(given), given).to.equal(wanted);
  });

  it('is a host name and nothing else', () => {
    for (const given of ['', '.', ':80', 'http://acme.test', 'acme.test/path', 'user@acme.test', 'a b', 'acme..test', '-acme.test', '[::1]', 'a\u0000b', 'acme.test:port', `${'a'.repeat(64)}.test`, 'x'.repeat(300), '*.acme.test', '%61.test']) {
      expect(normaliseDomain(given), given).to.equal(undefined);
    }
  });
});
