import { expect } from 'chai';
import { apiKey } from '../../../domain/identity/api-key.ts';
import { API_KEY_EVENT_TYPES, parseApiKeyEvent } from '../../../domain/identity/api-key-events.ts';
import { adminToken } from '../../../domain/identity/admin-token.ts';
import { ADMIN_TOKEN_EVENT_TYPES, parseAdminTokenEvent } from '../../../domain/identity/admin-token-events.ts';
import { ACCESS_RULE_EVENT_TYPES, accessRuleDecider, parseAccessRuleEvent } from '../../../domain/identity/access-rule-set.ts';
import { TENANT_EVENT_TYPES, parseTenantEvent, tenantDecider } from '../../../domain/identity/tenant.ts';
import { user } from '../../../domain/identity/user.ts';
import { USER_EVENT_TYPES, parseUserEvent } from '../../../domain/identity/user-events.ts';
import shipped from './golden/events-v1.json' with { type: 'json' };

const REHASHED = { $sealed: 1, k: 'secret', n: 'AAAAAAAAAAAAAAAC', c: 'DDDDDDDDDDDDDDDDDDDDDDDD' };

/** Events once written stay readable: this file is only ever added to (spec 5, rule 2). */
describe('identity events as version 1 wrote them', () => {
  const of = <Event>(types: ReadonlySet<string>, parse: (event: (typeof shipped)[number]) => Event) => shipped.filter(({ type }) => types.has(type)).map(parse);
  const users = of(USER_EVENT_TYPES, parseUserEvent);
  const keys = of(API_KEY_EVENT_TYPES, parseApiKeyEvent);
  const tokens = of(ADMIN_TOKEN_EVENT_TYPES, parseAdminTokenEvent);
  const tenants = of(TENANT_EVENT_TYPES, parseTenantEvent);
  const rules = of(ACCESS_RULE_EVENT_TYPES, parseAccessRuleEvent);
  const lasting = users.filter(({ type }) => !['UserDeleted', 'UserErased'].includes(type));

  it('are all there', () => {
    const known = [USER_EVENT_TYPES, API_KEY_EVENT_TYPES, ADMIN_TOKEN_EVENT_TYPES, TENANT_EVENT_TYPES, ACCESS_RULE_EVENT_TYPES].flatMap((types) => [...types]);
    expect(new Set(shipped.map(({ type }) => type))).to.deep.equal(new Set(known));
  });

  it('fold into the same states as ever', () => {
    const before = lasting.filter(({ type }) => !type.startsWith('UserMembership'));
    expect(before.reduce(user.evolve, user.initialState())).to.deep.equal({
      status: 'active', roles: ['admin', 'editor'], disabled: true, memberships: [{ tenant: 'default', roles: ['admin', 'editor'] }], passwordHash: REHASHED, mfa: undefined,
    });
    expect(lasting.reduce(user.evolve, user.initialState())).to.deep.equal({ status: 'active', roles: [], disabled: true, memberships: [{ tenant: 'acme', roles: ['editor'] }], passwordHash: REHASHED, mfa: undefined });
    expect(lasting.filter(({ type }) => type !== 'UserMfaDisabled').reduce(user.evolve, user.initialState()).mfa?.recoveryCodes).to.deep.equal(['57DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU']);
    expect(users.reduce(user.evolve, user.initialState()).status).to.equal('erased');
    expect(keys.filter(({ type }) => type !== 'ApiKeyDeleted').reduce(apiKey.evolve, apiKey.initialState())).to.deep.equal({ status: 'revoked', roles: ['editor'], monthlyLimit: 1000 });
    expect(tokens.slice(0, 2).reduce(adminToken.evolve, adminToken.initialState())).to.deep.equal({ status: 'active' });
    expect(tokens.reduce(adminToken.evolve, adminToken.initialState())).to.deep.equal({ status: 'revoked' });
    expect(keys.slice(0, 3).reduce(apiKey.evolve, apiKey.initialState())).to.deep.equal({ status: 'deleted' });
    expect(tenants.slice(0, 2).reduce(tenantDecider.evolve, tenantDecider.initialState())).to.deep.equal({ status: 'active', name: 'Acme', domains: ['acme.test'], disabled: true });
    expect(tenants.reduce(tenantDecider.evolve, tenantDecider.initialState())).to.deep.include({ status: 'deleted', domains: [] });
    expect([...rules.slice(0, 2).reduce(accessRuleDecider.evolve, accessRuleDecider.initialState())]).to.deep.equal([
      ['0192f0c0-0000-7000-8000-000000000004', { role: 'editor', schema_name: 'post', actions: ['*'], field_mask: ['secret'] }],
    ]);
    expect(rules.reduce(accessRuleDecider.evolve, accessRuleDecider.initialState()).size).to.equal(0);
  });
});
