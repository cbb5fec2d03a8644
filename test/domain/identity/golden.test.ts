import { expect } from 'chai';
import type { Fold } from '../../../domain/decider.ts';
import type { EventParser } from '../../../domain/event-parser.ts';
import type { DomainEvent } from '../../../domain/event.ts';
import { accessRuleEvents } from '../../../domain/identity/access-rule-events.ts';
import { accessRulesDecider } from '../../../domain/identity/access-rules.ts';
import { adminTokenEvents } from '../../../domain/identity/admin-token-events.ts';
import { adminTokenDecider } from '../../../domain/identity/admin-token.ts';
import { apiKeyEvents } from '../../../domain/identity/api-key-events.ts';
import { apiKeyDecider } from '../../../domain/identity/api-key.ts';
import { tenantEvents } from '../../../domain/identity/tenant-events.ts';
import { tenantDecider } from '../../../domain/identity/tenant.ts';
import { userEvents } from '../../../domain/identity/user-events.ts';
import { userDecider } from '../../../domain/identity/user.ts';
import shipped from './golden/events-v1.json' with { type: 'json' };

const REHASHED = { $sealed: 1, k: 'secret', n: 'AAAAAAAAAAAAAAAC', c: 'DDDDDDDDDDDDDDDDDDDDDDDD' };

/** Stored events must stay readable: add events to the fixture, never change or remove one. */
describe('identity events of schema version 1', () => {
  const stored = <Event extends DomainEvent>({ includes, parse }: EventParser<Event>): readonly Event[] =>
    shipped.filter(({ type, data }) => includes({ type, data })).map(({ type, data }) => parse({ type, data }));
  const fold = <State, Event>(decider: Fold<State, Event>, events: readonly Event[]): State =>
    events.reduce(decider.evolve, decider.initialState());

  const users = stored(userEvents);
  const keys = stored(apiKeyEvents);
  const tokens = stored(adminTokenEvents);
  const tenants = stored(tenantEvents);
  const rules = stored(accessRuleEvents);
  const beforeDeletion = users.filter(({ type }) => !['UserDeleted', 'UserErased'].includes(type));

  it('are all in the fixture', () => {
    const known = [userEvents, apiKeyEvents, adminTokenEvents, tenantEvents, accessRuleEvents];
    expect(new Set(shipped.map(({ type }) => type))).to.deep.equal(new Set(known.flatMap(({ types }) => [...types])));
  });

  it('fold into an unchanged user', () => {
    const withoutMemberships = beforeDeletion.filter(({ type }) => !type.startsWith('UserMembership'));
    expect(fold(userDecider, withoutMemberships)).to.deep.equal({
      status: 'active',
      roles: ['admin', 'editor'],
      disabled: true,
      memberships: [{ tenant: 'default', roles: ['admin', 'editor'] }],
      passwordHash: REHASHED,
      mfa: undefined,
    });
    expect(fold(userDecider, beforeDeletion)).to.deep.equal({
      status: 'active',
      roles: [],
      disabled: true,
      memberships: [{ tenant: 'acme', roles: ['editor'] }],
      passwordHash: REHASHED,
      mfa: undefined,
    });
    const withMfa = beforeDeletion.filter(({ type }) => type !== 'UserMfaDisabled');
    expect(fold(userDecider, withMfa)?.mfa?.recoveryCodes).to.deep.equal([
      '57DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU',
    ]);
    expect(fold(userDecider, users)?.status).to.equal('erased');
  });

  it('fold into an unchanged API key', () => {
    const beforeKeyDeletion = keys.filter(({ type }) => type !== 'ApiKeyDeleted');
    expect(fold(apiKeyDecider, beforeKeyDeletion)).to.deep.equal({
      status: 'revoked',
      roles: ['editor'],
      monthlyLimit: 1000,
    });
    expect(fold(apiKeyDecider, keys.slice(0, 3))).to.deep.equal({ status: 'deleted' });
  });

  it('fold into an unchanged admin token', () => {
    expect(fold(adminTokenDecider, tokens.slice(0, 2))).to.deep.equal({ status: 'active' });
    expect(fold(adminTokenDecider, tokens)).to.deep.equal({ status: 'revoked' });
  });

  it('fold into an unchanged tenant', () => {
    expect(fold(tenantDecider, tenants.slice(0, 2))).to.deep.equal({
      status: 'active',
      name: 'Acme',
      domains: ['acme.test'],
      disabled: true,
    });
    expect(fold(tenantDecider, tenants)).to.deep.include({ status: 'deleted', domains: [] });
  });

  it('fold into unchanged access rules', () => {
    expect([...fold(accessRulesDecider, rules.slice(0, 2))]).to.deep.equal([
      [
        '0192f0c0-0000-7000-8000-000000000004',
        { role: 'editor', schema_name: 'post', actions: ['*'], field_mask: ['secret'] },
      ],
    ]);
    expect(fold(accessRulesDecider, rules).size).to.equal(0);
  });
});
