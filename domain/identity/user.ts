import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { Standing } from './memberships.ts';
import type { SecondFactor } from './mfa.ts';
import { isMember, standingAfter } from './memberships.ts';
import { SUPER_ADMIN, distinctRoles, sameRoles } from './roles.ts';
import type { PasswordChangeReason, SealedValue, SessionEnd, UserEvent } from './user-events.ts';

/** What decisions on a user need to know of it. */
export type UserState = Standing & {
  readonly status: 'unknown' | 'active' | 'deleted' | 'erased';
  readonly disabled: boolean;
  readonly passwordHash: SealedValue | undefined;
  /** Undefined where none is enabled. */
  readonly mfa: SecondFactor | undefined;
};

export type UserCommand =
  | { readonly kind: 'create'; readonly event: Extract<UserEvent, { type: 'UserCreated' }>['data'] }
  /** `otherSuperAdmins`: enabled super admins beside this user. */
  | { readonly kind: 'set_roles'; readonly roles: readonly string[]; readonly otherSuperAdmins: number }
  /** `roles` without `super_admin`, which is held in no tenant. */
  | { readonly kind: 'grant_membership'; readonly tenant: string; readonly roles: readonly string[] }
  | { readonly kind: 'remove_membership'; readonly tenant: string }
  | { readonly kind: 'set_disabled'; readonly disabled: boolean; readonly otherSuperAdmins: number }
  /** `replacing`: the hash that the right to do so was proved by; another one by now is refused. */
  | { readonly kind: 'set_password'; readonly passwordHash: SealedValue; readonly reason: PasswordChangeReason; readonly replacing?: SealedValue; readonly keptSession?: string }
  /** Does nothing where the password is another by now. */
  | { readonly kind: 'rehash_password'; readonly passwordHash: SealedValue; readonly replacing: SealedValue }
  | { readonly kind: 'block_sign_in' }
  | ({ readonly kind: 'enable_mfa' } & SecondFactor)
  | { readonly kind: 'use_recovery_code'; readonly code: string }
  | { readonly kind: 'disable_mfa' }
  | { readonly kind: 'delete'; readonly otherSuperAdmins: number }
  /** Also of a user who was deleted before. */
  | { readonly kind: 'erase'; readonly otherSuperAdmins: number }
  | { readonly kind: 'sign_in'; readonly session: Extract<UserEvent, { type: 'UserSignedIn' }>['data'] }
  | { readonly kind: 'end_session'; readonly sessionId: string; readonly reason: SessionEnd };

/**
 * Decides on a user (spec 1 and 4 A, users and roles). Replacing roles or a state by the same ones changes nothing.
 * @throws `user_not_found`, `person_not_found` (erasing), `user_exists`, `membership_not_found`, `last_super_admin`, `invalid_credentials` (signing in)
 */
export function decideUser(command: UserCommand, state: UserState): readonly UserEvent[] {
  if (command.kind === 'create') {
    if (state.status !== 'unknown') throw refusal('user_exists');
    return [{ type: 'UserCreated', data: { ...command.event, roles: distinctRoles(command.event.roles) } }];
  }
  if (command.kind === 'sign_in') {
    if (state.status !== 'active' || state.disabled) throw refusal('invalid_credentials');
    return [{ type: 'UserSignedIn', data: command.session }];
  }
  if (command.kind === 'end_session') {
    // Deleting a user ended the sessions already.
    return state.status === 'active' ? [{ type: 'UserSessionEnded', data: { session_id: command.sessionId, reason: command.reason } }] : [];
  }
  if (command.kind === 'erase') {
    if (state.status === 'unknown') throw refusal('person_not_found');
    if (state.status === 'active') keepOneSuperAdmin(state, command.otherSuperAdmins);
    const deleted: readonly UserEvent[] = state.status === 'active' ? [{ type: 'UserDeleted', data: {} }] : [];
    return state.status === 'erased' ? [] : [...deleted, { type: 'UserErased', data: {} }];
  }
  if (state.status !== 'active') throw refusal('user_not_found');
  switch (command.kind) {
    case 'set_roles': {
      const roles = distinctRoles(command.roles);
      if (!roles.includes(SUPER_ADMIN)) keepOneSuperAdmin(state, command.otherSuperAdmins);
      return sameRoles(roles, state.roles) ? [] : [{ type: 'UserRolesChanged', data: { roles } }];
    }
    case 'grant_membership': {
      const { tenant } = command;
      const roles = distinctRoles(command.roles);
      const held = state.memberships.find((membership) => membership.tenant === tenant);
      return held && sameRoles(roles, held.roles) ? [] : [{ type: 'UserMembershipGranted', data: { tenant, roles } }];
    }
    case 'remove_membership':
      if (!isMember(state, command.tenant)) throw refusal('membership_not_found');
      return [{ type: 'UserMembershipRemoved', data: { tenant: command.tenant } }];
    case 'set_disabled':
      if (command.disabled) keepOneSuperAdmin(state, command.otherSuperAdmins);
      return command.disabled === state.disabled ? [] : [{ type: 'UserStateChanged', data: { disabled: command.disabled } }];
    case 'set_password': {
      const { passwordHash, reason, replacing, keptSession } = command;
      if (replacing && !sameSealed(replacing, state.passwordHash)) throw refusal(reason === 'reset' ? 'invalid_reset_token' : 'invalid_password');
      return [{ type: 'UserPasswordChanged', data: { password_hash: passwordHash, reason, ...(keptSession === undefined ? {} : { kept_session: keptSession }) } }];
    }
    case 'rehash_password':
      return sameSealed(command.replacing, state.passwordHash) ? [{ type: 'UserPasswordRehashed', data: { password_hash: command.passwordHash } }] : [];
    case 'block_sign_in':
      return [{ type: 'UserSignInBlocked', data: {} }];
    case 'enable_mfa':
      if (state.mfa) throw refusal('mfa_enabled');
      return [{ type: 'UserMfaEnabled', data: { secret: command.secret, recovery_codes: command.recoveryCodes } }];
    case 'use_recovery_code':
      if (state.mfa?.recoveryCodes.includes(command.code) !== true) throw refusal('invalid_code');
      return [{ type: 'UserRecoveryCodeUsed', data: { recovery_code: command.code } }];
    case 'disable_mfa':
      if (!state.mfa) throw refusal('mfa_not_enabled');
      return [{ type: 'UserMfaDisabled', data: {} }];
    case 'delete':
      keepOneSuperAdmin(state, command.otherSuperAdmins);
      return [{ type: 'UserDeleted', data: {} }];
  }
}

function evolve(state: UserState, event: UserEvent): UserState {
  switch (event.type) {
    case 'UserCreated':
      return { status: 'active', disabled: false, passwordHash: event.data.password_hash, mfa: undefined, ...standingAfter(state, event) };
    case 'UserRolesChanged':
    case 'UserMembershipGranted':
    case 'UserMembershipRemoved':
      return { ...state, ...standingAfter(state, event) };
    case 'UserStateChanged':
      return { ...state, disabled: event.data.disabled };
    case 'UserDeleted':
      return { ...state, status: 'deleted' };
    case 'UserErased':
      return { ...state, status: 'erased' };
    case 'UserPasswordChanged':
    case 'UserPasswordRehashed':
      return { ...state, passwordHash: event.data.password_hash };
    case 'UserMfaEnabled':
    case 'UserRecoveryCodeUsed':
    case 'UserMfaDisabled':
      return { ...state, mfa: secondFactorAfter(state.mfa, event) };
    case 'UserSignInBlocked':
    case 'UserSignedIn':
    case 'UserSessionEnded':
      return state;
  }
}

export const user: Decider<UserState, UserEvent> = {
  initialState: () => ({ status: 'unknown', roles: [], memberships: [], disabled: false, passwordHash: undefined, mfa: undefined }),
  evolve,
};

/** What an event leaves of the second factor. */
export function secondFactorAfter(factor: SecondFactor | undefined, event: Extract<UserEvent, { type: 'UserMfaEnabled' | 'UserRecoveryCodeUsed' | 'UserMfaDisabled' }>): SecondFactor | undefined {
  switch (event.type) {
    case 'UserMfaEnabled':
      return { secret: event.data.secret, recoveryCodes: event.data.recovery_codes };
    case 'UserRecoveryCodeUsed':
      return factor && { ...factor, recoveryCodes: factor.recoveryCodes.filter((code) => code !== event.data.recovery_code) };
    case 'UserMfaDisabled':
      return undefined;
  }
}

/** Sealed anew, a value is another: each sealing has a nonce of its own. */
function sameSealed(one: SealedValue, other: SealedValue | undefined): boolean {
  return one['n'] === other?.['n'] && one['c'] === other?.['c'];
}

function keepOneSuperAdmin(state: UserState, others: number): void {
  if (others === 0 && !state.disabled && state.roles.includes(SUPER_ADMIN)) throw refusal('last_super_admin');
}
