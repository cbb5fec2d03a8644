import { expect } from 'chai';
import type { NewApiKey } from '../../../domain/identity/new-api-key.ts';
import { checkNewApiKey } from '../../../domain/identity/new-api-key.ts';

const now = new Date('2026-05-01T00:00:00.000Z');
const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000);
const plain: NewApiKey = { name: 'site', scopes: ['content:read'], roles: ['editor'], schemas: [], expiresAt: undefined, monthlyLimit: 0 };

describe('what may be asked of a new API key (spec 1, API key routes)', () => {
  const cases: readonly [title: string, asked: Partial<NewApiKey>, maker: readonly string[], message: string | undefined][] = [
    ['a role the maker holds', {}, ['admin', 'editor'], undefined],
    ['a role the maker does not hold', {}, ['admin'], 'cannot grant roles you do not possess'],
    ['any role for a super admin', { roles: ['custom'] }, ['super_admin'], undefined],
    ['no role at all', { roles: [] }, ['admin'], undefined],
    ['an admin role without expiry', { roles: ['admin'] }, ['admin'], 'a key with the admin or super_admin role needs an expiry, at most 90 days away'],
    ['a super_admin role without expiry', { roles: ['super_admin'] }, ['super_admin'], 'a key with the admin or super_admin role needs an expiry, at most 90 days away'],
    ['an admin role for 90 days', { roles: ['admin'], expiresAt: inDays(90) }, ['admin'], undefined],
    ['an admin role for 91 days', { roles: ['admin'], expiresAt: inDays(91) }, ['admin'], 'a key with the admin or super_admin role expires at most 90 days away'],
    ['another role for a year', { expiresAt: inDays(365) }, ['super_admin'], undefined],
    ['a scope without an action', { scopes: ['content'] }, ['super_admin'], 'validation failed'],
    ['a scope with two colons', { scopes: ['a:b:c'] }, ['super_admin'], 'validation failed'],
    ['wildcards and upper case', { scopes: ['*:*', 'Content:READ', '*:read', 'content:*'] }, ['super_admin'], undefined],
    ['a role name outside the grammar', { roles: ['no spaces'] }, ['super_admin'], 'validation failed'],
    ['a content type that can be none', { schemas: ['no-such; drop'] }, ['super_admin'], 'validation failed'],
    ['a negative limit', { monthlyLimit: -1 }, ['super_admin'], 'validation failed'],
    ['a role not held, before anything else', { roles: ['admin'], scopes: ['bad'] }, ['editor'], 'cannot grant roles you do not possess'],
  ];
  for (const [title, asked, roles, message] of cases) {
    it(`${message === undefined ? 'takes' : 'refuses'} ${title}`, () => {
      const check = () => {
        checkNewApiKey({ ...plain, ...asked }, { roles }, now);
      };
      if (message === undefined) expect(check).not.to.throw();
      else expect(check).to.throw(message);
    });
  }
});
