import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';
import type { MfaMethod } from './mfa.ts';

/** A value sealed by the vault; what is inside is none of the domain's business. */
export type SealedValue = JsonObject;

/** Why a session ended before its time. */
export type SessionEnd = 'signed_out' | 'refresh_token_reused';

/** How a session was opened. */
export type SignInMethod = 'setup' | 'password' | 'magic_link' | 'device';

/** How a password came to be replaced: by its owner, by a mailed token, by a super admin. Events from before it was told have none. */
export type PasswordChangeReason = 'changed' | 'reset' | 'set';

/**
 * Events of a user, stream `user-default.<user id>`: users are install-wide. Addresses are sealed under the person's key, password hashes
 * under the install's. Nothing in them can be compared with an address: the claim on it leads to the account.
 */
export type UserEvent =
  | DomainEvent<'UserCreated', {
      readonly user_id: string;
      readonly email: SealedValue;
      readonly password_hash: SealedValue;
      readonly roles: readonly string[];
      /** Tenant that the person becomes a member of; `roles` are theirs there, but for `super_admin`, which is the user's. */
      readonly member_of: string;
      /** Set on the account that setup made. */
      readonly first_account?: true;
    }>
  | DomainEvent<'UserRolesChanged', { readonly roles: readonly string[] }>
  /** Roles in one tenant, in place of those held there before. */
  | DomainEvent<'UserMembershipGranted', { readonly tenant: string; readonly roles: readonly string[] }>
  | DomainEvent<'UserMembershipRemoved', { readonly tenant: string }>
  | DomainEvent<'UserStateChanged', { readonly disabled: boolean }>
  | DomainEvent<'UserPasswordChanged', {
      readonly password_hash: SealedValue;
      readonly reason?: PasswordChangeReason;
      /** The one session that goes on: the owner's, who changed it. */
      readonly kept_session?: string;
    }>
  /** The same password under another algorithm or cost. */
  | DomainEvent<'UserPasswordRehashed', { readonly password_hash: SealedValue }>
  /** Too many wrong passwords or codes: for the rest of the window none is looked at. */
  | DomainEvent<'UserSignInBlocked', Readonly<Record<string, never>>>
  /** `recovery_codes`: keyed digests. */
  | DomainEvent<'UserMfaEnabled', { readonly secret: SealedValue; readonly recovery_codes: readonly string[] }>
  | DomainEvent<'UserRecoveryCodeUsed', { readonly recovery_code: string }>
  | DomainEvent<'UserMfaDisabled', Readonly<Record<string, never>>>
  | DomainEvent<'UserSignedIn', {
      readonly session_id: string;
      readonly tenant: string;
      readonly method: SignInMethod;
      /** What finished the sign-in of an account with a second factor. */
      readonly second_factor?: MfaMethod;
    }>
  | DomainEvent<'UserSessionEnded', { readonly session_id: string; readonly reason: SessionEnd }>
  | DomainEvent<'UserDeleted', Readonly<Record<string, never>>>
  /** The key of the person is destroyed: what was sealed under it is unreadable for good. */
  | DomainEvent<'UserErased', Readonly<Record<string, never>>>;

export const USER_EVENT_TYPES: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserCreated', 'UserRolesChanged', 'UserStateChanged', 'UserPasswordChanged', 'UserSignedIn', 'UserSessionEnded', 'UserDeleted',
  'UserMembershipGranted', 'UserMembershipRemoved', 'UserErased', 'UserPasswordRehashed', 'UserSignInBlocked', 'UserMfaEnabled', 'UserRecoveryCodeUsed', 'UserMfaDisabled',
]);

/** Events after which the sessions opened before them are over (spec 4 A, sign-in details). */
export const SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>(['UserRolesChanged', 'UserStateChanged', 'UserPasswordChanged', 'UserDeleted']);

/** Events after which the sessions in their tenant, opened before them, are over. */
export const TENANT_SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>(['UserMembershipGranted', 'UserMembershipRemoved']);

/** Events that change nobody's rights. Strangers can cause some of them: caches must not be theirs to empty. */
const WITHOUT_EFFECT_ON_RIGHTS: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserSignedIn', 'UserSignInBlocked', 'UserPasswordRehashed', 'UserMfaEnabled', 'UserRecoveryCodeUsed', 'UserMfaDisabled',
]);

/** Whether caches of credentials must forget what they know. */
export function changesCredentials(event: { readonly type: string }): boolean {
  return !WITHOUT_EFFECT_ON_RIGHTS.has(event.type);
}

/** Narrows a stored event. @throws TypeError for a type that is no user event */
export function parseUserEvent(event: { readonly type: string; readonly data: JsonObject }): UserEvent {
  if (!USER_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of a user: ${event.type}`);
  return { type: event.type, data: event.data } as UserEvent;
}
