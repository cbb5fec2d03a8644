import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { SealedValue } from '../sealed-value.ts';
import { type UserRights, isMember, rightsAfter } from './memberships.ts';
import type { MfaMethod, SecondFactor } from './mfa.ts';
import { SUPER_ADMIN, distinctRoles, sameRoles } from './roles.ts';
import { secondFactorAfter } from './second-factor-after.ts';
import type { PasswordChangeReason, SessionEnd, SignInMethod, UserEvent } from './user-events.ts';

type User = UserRights & {
  readonly status: 'active' | 'deleted' | 'erased';
  readonly disabled: boolean;
  readonly passwordHash: SealedValue | undefined;
  /** Undefined when no second factor is enabled. */
  readonly mfa: SecondFactor | undefined;
};

/** Undefined before the first event. */
export type UserState = User | undefined;

export type UserSettings = {
  /** Sealed under the person's key. */
  readonly email: SealedValue;
  readonly passwordHash: SealedValue;
  /** Roles in `memberOf`, except `super_admin`, which is the user's. */
  readonly roles: readonly string[];
  /** Tenant that the user joins. */
  readonly memberOf: string;
  /** Whether the setup creates this account. */
  readonly firstAccount: boolean;
};

export type UserCommand =
  | { readonly kind: 'create'; readonly userId: string; readonly settings: UserSettings }
  /** `otherSuperAdmins` is the number of other enabled super admins. */
  | { readonly kind: 'set_roles'; readonly roles: readonly string[]; readonly otherSuperAdmins: number }
  /** `roles` never contains `super_admin`: users hold it, memberships do not. */
  | { readonly kind: 'grant_membership'; readonly tenant: string; readonly roles: readonly string[] }
  | { readonly kind: 'remove_membership'; readonly tenant: string }
  | { readonly kind: 'set_disabled'; readonly disabled: boolean; readonly otherSuperAdmins: number }
  /**
   * `replacing` is the hash that the caller proved knowledge of. The command is refused when the hash has changed
   * since.
   */
  | {
      readonly kind: 'set_password';
      readonly passwordHash: SealedValue;
      readonly reason: PasswordChangeReason;
      readonly replacing?: SealedValue;
      readonly keptSession?: string;
    }
  /** Changes nothing when the hash is no longer `replacing`. */
  | { readonly kind: 'rehash_password'; readonly passwordHash: SealedValue; readonly replacing: SealedValue }
  | { readonly kind: 'block_sign_in' }
  | ({ readonly kind: 'enable_mfa' } & SecondFactor)
  | { readonly kind: 'use_recovery_code'; readonly code: string }
  | { readonly kind: 'disable_mfa' }
  | { readonly kind: 'delete'; readonly otherSuperAdmins: number }
  /** Erases active and deleted users. */
  | { readonly kind: 'erase'; readonly otherSuperAdmins: number }
  | {
      readonly kind: 'sign_in';
      readonly sessionId: string;
      readonly tenant: string;
      readonly method: SignInMethod;
      /** The second factor that completed the sign-in; undefined for accounts without one. */
      readonly secondFactor?: MfaMethod | undefined;
    }
  | { readonly kind: 'end_session'; readonly sessionId: string; readonly reason: SessionEnd };

type CommandOf<Kind extends UserCommand['kind']> = Extract<UserCommand, { readonly kind: Kind }>;

export const userDecider: Decider<UserState, UserCommand, UserEvent> = { initialState, decide, evolve };

function initialState(): UserState {
  return undefined;
}

/**
 * Replacing roles or a state by the same value changes nothing.
 * @throws `conflict` when the id of a new user is in use; `user_not_found`, `person_not_found` (erase),
 *   `membership_not_found`, `last_super_admin`, `invalid_credentials` (sign-in), `invalid_password`,
 *   `invalid_reset_token`, `invalid_code`, `mfa_enabled`, `mfa_not_enabled`
 */
function decide(state: UserState, command: UserCommand): readonly UserEvent[] {
  switch (command.kind) {
    case 'create':
      if (state) throw refusal('conflict');
      return [created(command)];
    case 'set_roles':
      return setRoles(existing(state), command);
    case 'grant_membership':
      return grantMembership(existing(state), command);
    case 'remove_membership':
      if (!isMember(existing(state), command.tenant)) throw refusal('membership_not_found');
      return [{ type: 'UserMembershipRemoved', data: { tenant: command.tenant } }];
    case 'set_disabled':
      return setDisabled(existing(state), command);
    case 'set_password':
      return setPassword(existing(state), command);
    case 'rehash_password':
      return sameSealed(command.replacing, existing(state).passwordHash)
        ? [{ type: 'UserPasswordRehashed', data: { password_hash: command.passwordHash } }]
        : [];
    case 'block_sign_in':
      existing(state);
      return [{ type: 'UserSignInBlocked', data: {} }];
    case 'enable_mfa':
      if (existing(state).mfa) throw refusal('mfa_enabled');
      return [{ type: 'UserMfaEnabled', data: { secret: command.secret, recovery_codes: command.recoveryCodes } }];
    case 'use_recovery_code':
      if (existing(state).mfa?.recoveryCodes.includes(command.code) !== true) throw refusal('invalid_code');
      return [{ type: 'UserRecoveryCodeUsed', data: { recovery_code: command.code } }];
    case 'disable_mfa':
      if (!existing(state).mfa) throw refusal('mfa_not_enabled');
      return [{ type: 'UserMfaDisabled', data: {} }];
    case 'delete':
      refuseWithoutSuperAdmin(existing(state), command.otherSuperAdmins);
      return [{ type: 'UserDeleted', data: {} }];
    case 'erase':
      return erase(state, command);
    case 'sign_in':
      if (state?.status !== 'active' || state.disabled) throw refusal('invalid_credentials');
      return [signedIn(command)];
    case 'end_session':
      // The deletion of a user has already ended the sessions.
      return state?.status === 'active'
        ? [{ type: 'UserSessionEnded', data: { session_id: command.sessionId, reason: command.reason } }]
        : [];
  }
}

function existing(state: UserState): User {
  if (state?.status !== 'active') throw refusal('user_not_found');
  return state;
}

function created({ userId, settings }: CommandOf<'create'>): UserEvent {
  const { email, passwordHash, roles, memberOf, firstAccount } = settings;
  return {
    type: 'UserCreated',
    data: {
      user_id: userId,
      email,
      password_hash: passwordHash,
      roles: distinctRoles(roles),
      member_of: memberOf,
      ...(firstAccount ? { first_account: true } : {}),
    },
  };
}

function setRoles(user: User, command: CommandOf<'set_roles'>): readonly UserEvent[] {
  const roles = distinctRoles(command.roles);
  if (!roles.includes(SUPER_ADMIN)) refuseWithoutSuperAdmin(user, command.otherSuperAdmins);
  return sameRoles(roles, user.roles) ? [] : [{ type: 'UserRolesChanged', data: { roles } }];
}

function grantMembership(user: User, command: CommandOf<'grant_membership'>): readonly UserEvent[] {
  const { tenant } = command;
  const roles = distinctRoles(command.roles);
  const current = user.memberships.find((membership) => membership.tenant === tenant);
  return current && sameRoles(roles, current.roles) ? [] : [{ type: 'UserMembershipGranted', data: { tenant, roles } }];
}

function setDisabled(user: User, { disabled, otherSuperAdmins }: CommandOf<'set_disabled'>): readonly UserEvent[] {
  if (disabled) refuseWithoutSuperAdmin(user, otherSuperAdmins);
  return disabled === user.disabled ? [] : [{ type: 'UserStateChanged', data: { disabled } }];
}

function setPassword(user: User, command: CommandOf<'set_password'>): readonly UserEvent[] {
  const { passwordHash, reason, replacing, keptSession } = command;
  if (replacing && !sameSealed(replacing, user.passwordHash))
    throw refusal(reason === 'reset' ? 'invalid_reset_token' : 'invalid_password');
  return [
    {
      type: 'UserPasswordChanged',
      data: {
        password_hash: passwordHash,
        reason,
        ...(keptSession === undefined ? {} : { kept_session: keptSession }),
      },
    },
  ];
}

function erase(state: UserState, { otherSuperAdmins }: CommandOf<'erase'>): readonly UserEvent[] {
  if (!state) throw refusal('person_not_found');
  const erased: UserEvent = { type: 'UserErased', data: {} };
  switch (state.status) {
    case 'active':
      refuseWithoutSuperAdmin(state, otherSuperAdmins);
      return [{ type: 'UserDeleted', data: {} }, erased];
    case 'deleted':
      return [erased];
    case 'erased':
      return [];
  }
}

function signedIn({ sessionId, tenant, method, secondFactor }: CommandOf<'sign_in'>): UserEvent {
  return {
    type: 'UserSignedIn',
    data: {
      session_id: sessionId,
      tenant,
      method,
      ...(secondFactor === undefined ? {} : { second_factor: secondFactor }),
    },
  };
}

function evolve(state: UserState, event: UserEvent): UserState {
  if (event.type === 'UserCreated')
    return {
      status: 'active',
      disabled: false,
      passwordHash: event.data.password_hash,
      mfa: undefined,
      ...rightsAfter({ roles: [], memberships: [] }, event),
    };
  if (!state) return undefined;
  switch (event.type) {
    case 'UserRolesChanged':
    case 'UserMembershipGranted':
    case 'UserMembershipRemoved':
      return { ...state, ...rightsAfter(state, event) };
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

/**
 * Compares nonce and ciphertext. Sealing the same plain text twice gives different values, because each has its own
 * nonce.
 */
function sameSealed(one: SealedValue, other: SealedValue | undefined): boolean {
  return other !== undefined && one.n === other.n && one.c === other.c;
}

/** @throws `last_super_admin` when the user is the only enabled super admin */
function refuseWithoutSuperAdmin(user: User, others: number): void {
  if (others === 0 && !user.disabled && user.roles.includes(SUPER_ADMIN)) throw refusal('last_super_admin');
}
