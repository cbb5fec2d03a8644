import { expect } from 'chai';
import { DAY_MS } from '../../../domain/durations.ts';
import type { ApiKeySettings } from '../../../domain/identity/api-key.ts';
import { checkNewApiKey } from '../../../domain/identity/new-api-key.ts';

const now = new Date('2026-05-01T00:00:00.000Z');
const inDays = (days: number) => new Date(now.getTime() + days * DAY_MS);
const plain: ApiKeySettings = {
  name: 'site',
  scopes: ['content:read'],
  roles: ['editor'],
  schemas: [],
  expiresAt: undefined,
  monthlyLimit: 0,
};

describe('a request for a new API key', () => {
  const cases: readonly [
    title: string,
    requested: Partial<ApiKeySettings>,
    creator: readonly string[],
    message: string | undefined,
  ][] = [
    ['a role that the creator holds', {}, ['admin', 'editor'], undefined],
    ['a role that the creator does not hold', {}, ['admin'], 'cannot grant roles you do not possess'],
    ['any role when the creator is a super admin', { roles: ['custom'] }, ['super_admin'], undefined],
    ['no role', { roles: [] }, ['admin'], undefined],
    [
      'an admin role without expiry',
      { roles: ['admin'] },
      ['admin'],
      'a key with the admin or super_admin role needs an expiry, at most 90 days away',
    ],
    [
      'the super_admin role without expiry',
      { roles: ['super_admin'] },
      ['super_admin'],
      'a key with the admin or super_admin role needs an expiry, at most 90 days away',
    ],
    ['an admin role for 90 days', { roles: ['admin'], expiresAt: inDays(90) }, ['admin'], undefined],
    [
      'an admin role for 91 days',
      { roles: ['admin'], expiresAt: inDays(91) },
      ['admin'],
      'a key with the admin or super_admin role expires at most 90 days away',
    ],
    ['a role without admin rights for a year', { expiresAt: inDays(365) }, ['super_admin'], undefined],
    ['a scope without an action', { scopes: ['content'] }, ['super_admin'], 'validation failed'],
    ['a scope with two colons', { scopes: ['a:b:c'] }, ['super_admin'], 'validation failed'],
    [
      'scopes with wildcards and upper case',
      { scopes: ['*:*', 'Content:READ', '*:read', 'content:*'] },
      ['super_admin'],
      undefined,
    ],
    ['an invalid role name', { roles: ['no spaces'] }, ['super_admin'], 'validation failed'],
    ['an invalid content type name', { schemas: ['no-such; drop'] }, ['super_admin'], 'validation failed'],
    ['a negative monthly limit', { monthlyLimit: -1 }, ['super_admin'], 'validation failed'],
    [
      'a role that the creator does not hold, before its values are checked',
      { roles: ['admin'], scopes: ['bad'] },
      ['editor'],
      'cannot grant roles you do not possess',
    ],
  ];
  for (const [title, requested, roles, message] of cases) {
    it(`is ${message === undefined ? 'accepted' : 'refused'} with ${title}`, () => {
      const check = () => {
        checkNewApiKey({ ...plain, ...requested }, { roles }, now);
      };
      if (message === undefined) expect(check).not.to.throw();
      else expect(check).to.throw(message);
    });
  }
});
