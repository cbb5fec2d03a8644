import { expect } from 'chai';
import { type UserEvent, userEvents } from '../../../domain/identity/user-events.ts';
import { type UserCommand, userDecider } from '../../../domain/identity/user.ts';
import { given } from '../../support/given.ts';

const sealed = { $sealed: 1, k: 'person', n: 'n', c: 'c' } as const;
const newHash = { ...sealed, n: 'n2', c: 'c2' };
const otherHash = { ...sealed, n: 'n3', c: 'c3' };
const superAdmin: UserEvent = {
  type: 'UserCreated',
  data: { user_id: 'u', email: sealed, password_hash: sealed, roles: ['super_admin'], member_of: 'default' },
};
const editor: UserEvent = { type: 'UserCreated', data: { ...superAdmin.data, roles: ['editor'] } };
const deleted: UserEvent = { type: 'UserDeleted', data: {} };
const granted = (tenant: string, ...roles: readonly string[]): UserEvent => ({
  type: 'UserMembershipGranted',
  data: { tenant, roles },
});
const removed = (tenant: string): UserEvent => ({ type: 'UserMembershipRemoved', data: { tenant } });
const rolesChanged = (...roles: readonly string[]): UserEvent => ({ type: 'UserRolesChanged', data: { roles } });

describe('creating a user', () => {
  const create = (...roles: readonly string[]): UserCommand => ({
    kind: 'create',
    userId: 'u',
    settings: { email: sealed, passwordHash: sealed, roles, memberOf: 'default', firstAccount: false },
  });

  it('appends the account', () => {
    given(userDecider, []).when(create('super_admin')).thenAppends([superAdmin]);
  });
  it('is refused when the account exists', () => {
    given(userDecider, [superAdmin]).when(create('super_admin')).thenRefuses('conflict');
  });
  it('drops repeated roles', () => {
    given(userDecider, []).when(create('editor', 'editor')).thenAppends([editor]);
  });
  it('accepts only events of users as history', () => {
    expect(() => userEvents.parse({ type: 'EntryCreated', data: {} })).to.throw(TypeError);
  });
});

describe('the roles of a user', () => {
  const setRoles = (otherSuperAdmins: number, ...roles: readonly string[]): UserCommand => ({
    kind: 'set_roles',
    roles,
    otherSuperAdmins,
  });

  it('are replaced', () => {
    given(userDecider, [editor])
      .when(setRoles(0, 'admin'))
      .thenAppends([rolesChanged('admin')]);
  });
  it('do not change when they are replaced by the same roles', () => {
    given(userDecider, [editor]).when(setRoles(0, 'editor')).thenAppendsNothing();
  });
  it('are those of the membership in the default tenant', () => {
    given(userDecider, [editor, granted('default', 'reader')])
      .when(setRoles(0, 'reader'))
      .thenAppendsNothing();
  });
  it('keep super_admin for the last super admin', () => {
    given(userDecider, [superAdmin]).when(setRoles(0, 'admin')).thenRefuses('last_super_admin');
  });
  it('lose super_admin while another super admin exists', () => {
    given(userDecider, [superAdmin])
      .when(setRoles(1, 'admin'))
      .thenAppends([rolesChanged('admin')]);
  });
  it('gain further roles for the last super admin', () => {
    given(userDecider, [superAdmin])
      .when(setRoles(0, 'super_admin', 'editor'))
      .thenAppends([rolesChanged('super_admin', 'editor')]);
  });
});

describe('the memberships of a user', () => {
  const grant = (...roles: readonly string[]): UserCommand => ({ kind: 'grant_membership', tenant: 'acme', roles });
  const leaveDefault: UserCommand = { kind: 'remove_membership', tenant: 'default' };

  it('gain a tenant, with every role once', () => {
    given(userDecider, [editor])
      .when(grant('editor', 'editor'))
      .thenAppends([granted('acme', 'editor')]);
  });
  it('get other roles in a tenant', () => {
    given(userDecider, [editor, granted('acme', 'editor')])
      .when(grant())
      .thenAppends([granted('acme')]);
  });
  it('do not change when the same roles are granted in another order', () => {
    given(userDecider, [editor, granted('acme', 'a', 'b')])
      .when(grant('b', 'a'))
      .thenAppendsNothing();
  });
  it('lose a tenant once', () => {
    given(userDecider, [editor])
      .when(leaveDefault)
      .thenAppends([removed('default')]);
    given(userDecider, [editor, removed('default')])
      .when(leaveDefault)
      .thenRefuses('membership_not_found');
  });
  it('do not affect whether the user is a super admin', () => {
    given(userDecider, [superAdmin, removed('default')])
      .when({ kind: 'delete', otherSuperAdmins: 0 })
      .thenRefuses('last_super_admin');
  });
});

describe('disabling a user', () => {
  const disabled: UserEvent = { type: 'UserStateChanged', data: { disabled: true } };
  const disable = (otherSuperAdmins: number): UserCommand => ({
    kind: 'set_disabled',
    disabled: true,
    otherSuperAdmins,
  });

  it('disables the account', () => {
    given(userDecider, [editor]).when(disable(0)).thenAppends([disabled]);
  });
  it('is refused for the last super admin', () => {
    given(userDecider, [superAdmin]).when(disable(0)).thenRefuses('last_super_admin');
  });
  it('changes nothing the second time', () => {
    given(userDecider, [editor, disabled]).when(disable(0)).thenAppendsNothing();
  });
  it('lets a super admin be deleted even without another super admin', () => {
    given(userDecider, [superAdmin, disabled]).when({ kind: 'delete', otherSuperAdmins: 0 }).thenAppends([deleted]);
  });
  it('prevents sign-ins', () => {
    given(userDecider, [editor, disabled])
      .when({ kind: 'sign_in', sessionId: 's', tenant: 'default', method: 'password' })
      .thenRefuses('invalid_credentials');
  });
});

describe('deleting and erasing a user', () => {
  const erased: UserEvent = { type: 'UserErased', data: {} };
  const remove: UserCommand = { kind: 'delete', otherSuperAdmins: 0 };
  const erase: UserCommand = { kind: 'erase', otherSuperAdmins: 0 };
  const disable: UserCommand = { kind: 'set_disabled', disabled: true, otherSuperAdmins: 3 };

  it('deletes the account', () => {
    given(userDecider, [editor]).when(remove).thenAppends([deleted]);
  });
  it('erases an active user with a deletion', () => {
    given(userDecider, [editor]).when(erase).thenAppends([deleted, erased]);
  });
  it('erases a deleted user', () => {
    given(userDecider, [editor, deleted]).when(erase).thenAppends([erased]);
  });
  it('changes nothing when an erasure is repeated', () => {
    given(userDecider, [editor, deleted, erased]).when(erase).thenAppendsNothing();
  });
  it('is refused for the last super admin', () => {
    given(userDecider, [superAdmin]).when(remove).thenRefuses('last_super_admin');
    given(userDecider, [superAdmin]).when(erase).thenRefuses('last_super_admin');
  });
  it('refuses to erase a user who never existed', () => {
    given(userDecider, []).when({ kind: 'erase', otherSuperAdmins: 1 }).thenRefuses('person_not_found');
  });
  it('hides deleted and erased users from later commands', () => {
    given(userDecider, [editor, deleted]).when(disable).thenRefuses('user_not_found');
    given(userDecider, [editor, deleted, erased]).when(disable).thenRefuses('user_not_found');
  });
  it('refuses to delete a user who never existed', () => {
    given(userDecider, []).when({ kind: 'delete', otherSuperAdmins: 3 }).thenRefuses('user_not_found');
  });
  it('prevents sign-ins', () => {
    given(userDecider, [editor, deleted])
      .when({ kind: 'sign_in', sessionId: 's', tenant: 'default', method: 'password' })
      .thenRefuses('invalid_credentials');
  });
});

describe('the password of a user', () => {
  const replace = (reason: 'changed' | 'reset'): UserCommand => ({
    kind: 'set_password',
    passwordHash: newHash,
    reason,
    replacing: sealed,
  });
  const rehash: UserCommand = { kind: 'rehash_password', passwordHash: newHash, replacing: sealed };

  it('is set without the current one', () => {
    given(userDecider, [editor])
      .when({ kind: 'set_password', passwordHash: newHash, reason: 'set' })
      .thenAppends([{ type: 'UserPasswordChanged', data: { password_hash: newHash, reason: 'set' } }]);
  });
  it('is changed by its owner, whose session stays open', () => {
    given(userDecider, [editor])
      .when({ kind: 'set_password', passwordHash: newHash, reason: 'changed', replacing: sealed, keptSession: 's' })
      .thenAppends([
        { type: 'UserPasswordChanged', data: { password_hash: newHash, reason: 'changed', kept_session: 's' } },
      ]);
  });
  it('is not changed when it was replaced since the owner proved it', () => {
    given(userDecider, [editor, { type: 'UserPasswordChanged', data: { password_hash: otherHash } }])
      .when(replace('changed'))
      .thenRefuses('invalid_password');
  });
  it('is not reset when it was replaced since the token was mailed', () => {
    given(userDecider, [editor, { type: 'UserPasswordRehashed', data: { password_hash: otherHash } }])
      .when(replace('reset'))
      .thenRefuses('invalid_reset_token');
  });
  it('is hashed again', () => {
    given(userDecider, [editor])
      .when(rehash)
      .thenAppends([{ type: 'UserPasswordRehashed', data: { password_hash: newHash } }]);
  });
  it('is not restored by a late rehash of a replaced password', () => {
    given(userDecider, [editor, { type: 'UserPasswordChanged', data: { password_hash: otherHash } }])
      .when(rehash)
      .thenAppendsNothing();
  });
});

describe('the second factor of a user', () => {
  const enabled: UserEvent = { type: 'UserMfaEnabled', data: { secret: sealed, recovery_codes: ['a', 'b'] } };
  const disabled: UserEvent = { type: 'UserMfaDisabled', data: {} };
  const codeUsed: UserEvent = { type: 'UserRecoveryCodeUsed', data: { recovery_code: 'a' } };
  const enable: UserCommand = { kind: 'enable_mfa', secret: sealed, recoveryCodes: ['a', 'b'] };
  const spendCode: UserCommand = { kind: 'use_recovery_code', code: 'a' };

  it('is enabled once', () => {
    given(userDecider, [editor]).when(enable).thenAppends([enabled]);
    given(userDecider, [editor, enabled]).when(enable).thenRefuses('mfa_enabled');
  });
  it('accepts a recovery code once', () => {
    given(userDecider, [editor, enabled]).when(spendCode).thenAppends([codeUsed]);
    given(userDecider, [editor, enabled, codeUsed]).when(spendCode).thenRefuses('invalid_code');
  });
  it('accepts no recovery code after it was disabled', () => {
    given(userDecider, [editor, enabled, disabled]).when(spendCode).thenRefuses('invalid_code');
  });
  it('is disabled', () => {
    given(userDecider, [editor, enabled]).when({ kind: 'disable_mfa' }).thenAppends([disabled]);
  });
  it('is not disabled when it is not enabled', () => {
    given(userDecider, [editor]).when({ kind: 'disable_mfa' }).thenRefuses('mfa_not_enabled');
  });
});

describe('the sessions of a user', () => {
  const endSession: UserCommand = { kind: 'end_session', sessionId: 's', reason: 'signed_out' };

  it('are ended', () => {
    given(userDecider, [editor])
      .when(endSession)
      .thenAppends([{ type: 'UserSessionEnded', data: { session_id: 's', reason: 'signed_out' } }]);
  });
  it('are not ended again after the deletion of the user', () => {
    given(userDecider, [editor, deleted]).when(endSession).thenAppendsNothing();
  });
});

describe('blocking the sign-ins of a user', () => {
  it('appends the lockout', () => {
    given(userDecider, [editor])
      .when({ kind: 'block_sign_in' })
      .thenAppends([{ type: 'UserSignInBlocked', data: {} }]);
  });
});
