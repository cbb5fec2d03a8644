import { expect } from 'chai';
import { rolesOfActor } from '../../../application/identity/roles-of-actor.ts';
import type { UserRecord } from '../../../application/ports/identity-reads.ts';

const SEALED = { kid: 'k', data: 'x' } as unknown as UserRecord['email'];

const EDITOR: UserRecord = {
  id: 'u',
  email: SEALED,
  passwordHash: SEALED,
  roles: [],
  disabled: false,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  lastLoginAt: null,
  revision: 0,
  sessionsRevision: 0,
  keptSession: null,
  mfa: null,
  memberships: [{ tenant: 'acme', roles: ['editor'] }],
  tenantSessionsRevisions: {},
};

describe('the current roles of an actor', () => {
  const rolesIn = (tenant: string, user: UserRecord | undefined, kind: 'user' | 'api_key' = 'user') =>
    rolesOfActor({ tenant, actor: { kind, id: 'u' } }, { userById: () => Promise.resolve(user) });

  it('are those of the membership in the tenant', async () => {
    expect(await rolesIn('acme', EDITOR)).to.deep.equal(['editor']);
  });

  it('are those of a super admin in every tenant', async () => {
    expect(await rolesIn('other', { ...EDITOR, roles: ['super_admin'] })).to.deep.equal(['super_admin']);
  });

  it('are undefined for a disabled or deleted account, for another tenant and for an API key', async () => {
    expect(await rolesIn('acme', { ...EDITOR, disabled: true })).to.equal(undefined);
    expect(await rolesIn('acme', undefined)).to.equal(undefined);
    expect(await rolesIn('other', EDITOR)).to.equal(undefined);
    expect(await rolesIn('acme', EDITOR, 'api_key')).to.equal(undefined);
  });
});
