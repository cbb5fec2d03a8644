import { expect } from 'chai';
import { apiKey } from '../../../domain/identity/api-key.ts';
import { API_KEY_EVENT_TYPES, parseApiKeyEvent } from '../../../domain/identity/api-key-events.ts';
import { user } from '../../../domain/identity/user.ts';
import { USER_EVENT_TYPES, parseUserEvent } from '../../../domain/identity/user-events.ts';
import shipped from './golden/events-v1.json' with { type: 'json' };

/** Events once written stay readable: this file is only ever added to (spec 5, rule 2). */
describe('identity events as version 1 wrote them', () => {
  const users = shipped.filter(({ type }) => USER_EVENT_TYPES.has(type)).map(parseUserEvent);
  const keys = shipped.filter(({ type }) => API_KEY_EVENT_TYPES.has(type)).map(parseApiKeyEvent);

  it('are all there', () => {
    expect(new Set(shipped.map(({ type }) => type))).to.deep.equal(new Set([...USER_EVENT_TYPES, ...API_KEY_EVENT_TYPES]));
  });

  it('fold into the same states as ever', () => {
    expect(users.slice(0, -1).reduce(user.evolve, user.initialState())).to.deep.equal({ status: 'active', roles: ['admin', 'editor'], disabled: true });
    expect(users.reduce(user.evolve, user.initialState()).status).to.equal('deleted');
    expect(keys.slice(0, 2).reduce(apiKey.evolve, apiKey.initialState())).to.deep.equal({ status: 'revoked' });
    expect(keys.reduce(apiKey.evolve, apiKey.initialState())).to.deep.equal({ status: 'deleted' });
  });
});
