import { expect } from 'chai';
import { hasCode } from '../../../domain/errors.ts';
import type { UserCommand } from '../../../domain/identity/user.ts';
import { decideUser, user } from '../../../domain/identity/user.ts';
import type { UserEvent } from '../../../domain/identity/user-events.ts';
import { parseUserEvent } from '../../../domain/identity/user-events.ts';

const sealed = { $sealed: 1, k: 'person', n: 'n', c: 'c' };
const created: UserEvent = {
  type: 'UserCreated',
  data: { user_id: 'u', email: sealed, password_hash: sealed, roles: ['super_admin'], member_of: 'default' },
};
const plain: UserEvent = { type: 'UserCreated', data: { ...created.data, roles: ['editor'] } };
const disabled: UserEvent = { type: 'UserStateChanged', data: { disabled: true } };
const anew = { ...sealed, n: 'n2', c: 'c2' };
const other = { ...sealed, n: 'n3', c: 'c3' };
const withMfa: UserEvent = { type: 'UserMfaEnabled', data: { secret: sealed, recovery_codes: ['a', 'b'] } };
const deleted: UserEvent = { type: 'UserDeleted', data: {} };
const erased: UserEvent = { type: 'UserErased', data: {} };

type Case = { readonly given: readonly UserEvent[]; readonly when: UserCommand; readonly then: readonly UserEvent[] | string };

const cases: Readonly<Record<string, Case>> = {
  'creates once': { given: [], when: { kind: 'create', event: created.data }, then: [created] },
  'refuses to create twice': { given: [created], when: { kind: 'create', event: created.data }, then: 'user_exists' },
  'keeps a role once': { given: [], when: { kind: 'create', event: { ...created.data, roles: ['editor', 'editor'] } }, then: [plain] },
  'replaces roles': { given: [plain], when: { kind: 'set_roles', roles: ['admin'], otherSuperAdmins: 0 }, then: [{ type: 'UserRolesChanged', data: { roles: ['admin'] } }] },
  'replacing roles by the same changes nothing': { given: [plain], when: { kind: 'set_roles', roles: ['editor'], otherSuperAdmins: 0 }, then: [] },
  'joins a tenant': { given: [plain], when: { kind: 'grant_membership', tenant: 'acme', roles: ['editor', 'editor'] }, then: [{ type: 'UserMembershipGranted', data: { tenant: 'acme', roles: ['editor'] } }] },
  'has other roles in a tenant from then on': {
    given: [plain, { type: 'UserMembershipGranted', data: { tenant: 'acme', roles: ['editor'] } }], when: { kind: 'grant_membership', tenant: 'acme', roles: [] },
    then: [{ type: 'UserMembershipGranted', data: { tenant: 'acme', roles: [] } }],
  },
  'granting the same roles in a tenant changes nothing': {
    given: [plain, { type: 'UserMembershipGranted', data: { tenant: 'acme', roles: ['a', 'b'] } }], when: { kind: 'grant_membership', tenant: 'acme', roles: ['b', 'a'] }, then: [],
  },
  'has in default the roles of the membership there': {
    given: [plain, { type: 'UserMembershipGranted', data: { tenant: 'default', roles: ['reader'] } }], when: { kind: 'set_roles', roles: ['reader'], otherSuperAdmins: 0 }, then: [],
  },
  'leaves a tenant': { given: [plain], when: { kind: 'remove_membership', tenant: 'default' }, then: [{ type: 'UserMembershipRemoved', data: { tenant: 'default' } }] },
  'leaves a tenant once': { given: [plain, { type: 'UserMembershipRemoved', data: { tenant: 'default' } }], when: { kind: 'remove_membership', tenant: 'default' }, then: 'membership_not_found' },
  'stays a super admin without any membership': {
    given: [created, { type: 'UserMembershipRemoved', data: { tenant: 'default' } }], when: { kind: 'delete', otherSuperAdmins: 0 }, then: 'last_super_admin',
  },
  'never strips the last super admin': { given: [created], when: { kind: 'set_roles', roles: ['admin'], otherSuperAdmins: 0 }, then: 'last_super_admin' },
  'strips a super admin while there is another': {
    given: [created], when: { kind: 'set_roles', roles: ['admin'], otherSuperAdmins: 1 }, then: [{ type: 'UserRolesChanged', data: { roles: ['admin'] } }],
  },
  'gives the last super admin further roles': {
    given: [created], when: { kind: 'set_roles', roles: ['super_admin', 'editor'], otherSuperAdmins: 0 }, then: [{ type: 'UserRolesChanged', data: { roles: ['super_admin', 'editor'] } }],
  },
  'never disables the last super admin': { given: [created], when: { kind: 'set_disabled', disabled: true, otherSuperAdmins: 0 }, then: 'last_super_admin' },
  'disables others': { given: [plain], when: { kind: 'set_disabled', disabled: true, otherSuperAdmins: 0 }, then: [disabled] },
  'disabling twice changes nothing': { given: [plain, disabled], when: { kind: 'set_disabled', disabled: true, otherSuperAdmins: 0 }, then: [] },
  'a disabled super admin is none that must be kept': { given: [created, disabled], when: { kind: 'delete', otherSuperAdmins: 0 }, then: [deleted] },
  'never deletes the last super admin': { given: [created], when: { kind: 'delete', otherSuperAdmins: 0 }, then: 'last_super_admin' },
  'deletes others': { given: [plain], when: { kind: 'delete', otherSuperAdmins: 0 }, then: [deleted] },
  'erases': { given: [plain], when: { kind: 'erase', otherSuperAdmins: 0 }, then: [deleted, erased] },
  'erases who was deleted before': { given: [plain, deleted], when: { kind: 'erase', otherSuperAdmins: 0 }, then: [erased] },
  'erases once': { given: [plain, deleted, erased], when: { kind: 'erase', otherSuperAdmins: 0 }, then: [] },
  'never erases the last super admin': { given: [created], when: { kind: 'erase', otherSuperAdmins: 0 }, then: 'last_super_admin' },
  'erases nobody who never was': { given: [], when: { kind: 'erase', otherSuperAdmins: 1 }, then: 'person_not_found' },
  'does not know an erased user': { given: [plain, deleted, erased], when: { kind: 'set_disabled', disabled: true, otherSuperAdmins: 3 }, then: 'user_not_found' },
  'does not know a deleted user': { given: [plain, deleted], when: { kind: 'set_disabled', disabled: true, otherSuperAdmins: 3 }, then: 'user_not_found' },
  'does not know a user that never was': { given: [], when: { kind: 'delete', otherSuperAdmins: 3 }, then: 'user_not_found' },
  'sets a password': { given: [plain], when: { kind: 'set_password', passwordHash: anew, reason: 'set' }, then: [{ type: 'UserPasswordChanged', data: { password_hash: anew, reason: 'set' } }] },
  'changes the password that was shown, and keeps one session': {
    given: [plain], when: { kind: 'set_password', passwordHash: anew, reason: 'changed', replacing: sealed, keptSession: 's' },
    then: [{ type: 'UserPasswordChanged', data: { password_hash: anew, reason: 'changed', kept_session: 's' } }],
  },
  'changes no password that another has replaced meanwhile': {
    given: [plain, { type: 'UserPasswordChanged', data: { password_hash: other } }], when: { kind: 'set_password', passwordHash: anew, reason: 'changed', replacing: sealed }, then: 'invalid_password',
  },
  'resets no password that another has replaced meanwhile': {
    given: [plain, { type: 'UserPasswordRehashed', data: { password_hash: other } }], when: { kind: 'set_password', passwordHash: anew, reason: 'reset', replacing: sealed }, then: 'invalid_reset_token',
  },
  'hashes a password anew': { given: [plain], when: { kind: 'rehash_password', passwordHash: anew, replacing: sealed }, then: [{ type: 'UserPasswordRehashed', data: { password_hash: anew } }] },
  'does not bring a replaced password back by hashing it anew': {
    given: [plain, { type: 'UserPasswordChanged', data: { password_hash: other } }], when: { kind: 'rehash_password', passwordHash: anew, replacing: sealed }, then: [],
  },
  'tells of a blocked sign-in': { given: [plain], when: { kind: 'block_sign_in' }, then: [{ type: 'UserSignInBlocked', data: {} }] },
  'enables a second factor': { given: [plain], when: { kind: 'enable_mfa', secret: sealed, recoveryCodes: ['a', 'b'] }, then: [withMfa] },
  'enables a second factor once': { given: [plain, withMfa], when: { kind: 'enable_mfa', secret: sealed, recoveryCodes: [] }, then: 'mfa_enabled' },
  'uses a recovery code': { given: [plain, withMfa], when: { kind: 'use_recovery_code', code: 'a' }, then: [{ type: 'UserRecoveryCodeUsed', data: { recovery_code: 'a' } }] },
  'uses a recovery code once': { given: [plain, withMfa, { type: 'UserRecoveryCodeUsed', data: { recovery_code: 'a' } }], when: { kind: 'use_recovery_code', code: 'a' }, then: 'invalid_code' },
  'knows no recovery code without a second factor': { given: [plain, withMfa, { type: 'UserMfaDisabled', data: {} }], when: { kind: 'use_recovery_code', code: 'a' }, then: 'invalid_code' },
  'takes a second factor off': { given: [plain, withMfa], when: { kind: 'disable_mfa' }, then: [{ type: 'UserMfaDisabled', data: {} }] },
  'takes off what is there': { given: [plain], when: { kind: 'disable_mfa' }, then: 'mfa_not_enabled' },
  'signs nobody in who is disabled': {
    given: [plain, disabled], when: { kind: 'sign_in', session: { session_id: 's', tenant: 'default', method: 'password' } }, then: 'invalid_credentials',
  },
  'signs nobody in who is deleted': {
    given: [plain, deleted], when: { kind: 'sign_in', session: { session_id: 's', tenant: 'default', method: 'password' } }, then: 'invalid_credentials',
  },
  'ends a session': {
    given: [plain], when: { kind: 'end_session', sessionId: 's', reason: 'signed_out' }, then: [{ type: 'UserSessionEnded', data: { session_id: 's', reason: 'signed_out' } }],
  },
  'has no session of a deleted user to end': { given: [plain, deleted], when: { kind: 'end_session', sessionId: 's', reason: 'signed_out' }, then: [] },
};

describe('decisions on a user', () => {
  for (const [title, { given, when, then }] of Object.entries(cases)) {
    it(title, () => {
      const decide = () => decideUser(when, given.reduce(user.evolve, user.initialState()));
      if (typeof then !== 'string') expect(decide()).to.deep.equal(then);
      else expect(decide).to.satisfy(refuses(then));
    });
  }

  it('takes no event of another kind for one of a user', () => {
    expect(() => parseUserEvent({ type: 'EntryCreated', data: {} })).to.throw(TypeError);
  });
});

function refuses(code: string): (decide: () => unknown) => boolean {
  return (decide) => {
    try {
      decide();
      return false;
    } catch (error) {
      return hasCode(error, code as 'last_super_admin');
    }
  };
}
