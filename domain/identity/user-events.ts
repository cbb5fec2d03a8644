import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';
import type { SealedValue } from '../sealed-value.ts';
import type { MfaMethod } from './mfa.ts';

/** Why a session ended before it expired. */
export type SessionEnd = 'signed_out' | 'refresh_token_reused';

/** How a session was opened. */
export type SignInMethod = 'setup' | 'password' | 'magic_link' | 'device';

/** How a password was replaced: `changed` by its owner, `reset` by a mailed token, `set` by a super admin. */
export type PasswordChangeReason = 'changed' | 'reset' | 'set';

/**
 * Events of a user, stream `user-default.<user id>`: users belong to the installation, not to one tenant. Addresses,
 * password hashes and secrets of authenticators are sealed under the person's key; events of earlier versions hold
 * hashes and secrets sealed under the installation's key. No event holds a digest of an address;
 * the claim on the address leads to the account.
 */
export type UserEvent =
  | DomainEvent<
      'UserCreated',
      {
        readonly user_id: string;
        readonly email: SealedValue;
        readonly password_hash: SealedValue;
        readonly roles: readonly string[];
        /**
         * Tenant that the user joins. `roles` are the roles in that tenant, except `super_admin`, which is the user's.
         */
        readonly member_of: string;
        /** Set on the account that the setup created. */
        readonly first_account?: true;
      }
    >
  | DomainEvent<'UserRolesChanged', { readonly roles: readonly string[] }>
  /** Sets the roles in one tenant; replaces the roles that the user had there. */
  | DomainEvent<'UserMembershipGranted', { readonly tenant: string; readonly roles: readonly string[] }>
  | DomainEvent<'UserMembershipRemoved', { readonly tenant: string }>
  | DomainEvent<'UserStateChanged', { readonly disabled: boolean }>
  | DomainEvent<
      'UserPasswordChanged',
      {
        readonly password_hash: SealedValue;
        /** Absent in events written before reasons were recorded. */
        readonly reason?: PasswordChangeReason;
        /** The one session that stays open: the session in which the owner changed the password. */
        readonly kept_session?: string;
      }
    >
  /** The same password, hashed with another algorithm or cost. */
  | DomainEvent<'UserPasswordRehashed', { readonly password_hash: SealedValue }>
  /** Too many wrong passwords or codes: every further attempt in the window fails. */
  | DomainEvent<'UserSignInBlocked', Readonly<Record<string, never>>>
  /** `secret` of the authenticator; `recovery_codes` are keyed digests. */
  | DomainEvent<'UserMfaEnabled', { readonly secret: SealedValue; readonly recovery_codes: readonly string[] }>
  | DomainEvent<'UserRecoveryCodeUsed', { readonly recovery_code: string }>
  | DomainEvent<'UserMfaDisabled', Readonly<Record<string, never>>>
  | DomainEvent<
      'UserSignedIn',
      {
        readonly session_id: string;
        readonly tenant: string;
        readonly method: SignInMethod;
        /** The second factor that completed the sign-in; absent for accounts without one. */
        readonly second_factor?: MfaMethod;
      }
    >
  | DomainEvent<'UserSessionEnded', { readonly session_id: string; readonly reason: SessionEnd }>
  | DomainEvent<'UserDeleted', Readonly<Record<string, never>>>
  /** The person's key is destroyed: values sealed under it are permanently unreadable. */
  | DomainEvent<'UserErased', Readonly<Record<string, never>>>;

export const userEvents = eventParser<UserEvent>('user', [
  'UserCreated',
  'UserRolesChanged',
  'UserStateChanged',
  'UserPasswordChanged',
  'UserSignedIn',
  'UserSessionEnded',
  'UserDeleted',
  'UserMembershipGranted',
  'UserMembershipRemoved',
  'UserErased',
  'UserPasswordRehashed',
  'UserSignInBlocked',
  'UserMfaEnabled',
  'UserRecoveryCodeUsed',
  'UserMfaDisabled',
]);

/** Events that end all sessions of the user that were opened before them. */
export const SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserRolesChanged',
  'UserStateChanged',
  'UserPasswordChanged',
  'UserDeleted',
]);

/** Events that end the user's sessions in the event's tenant that were opened before them. */
export const TENANT_SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserMembershipGranted',
  'UserMembershipRemoved',
]);

/**
 * Events that change no rights. Anyone can cause some of them (failed sign-ins), so they must not invalidate the
 * credential caches.
 */
const WITHOUT_EFFECT_ON_RIGHTS: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserSignedIn',
  'UserSignInBlocked',
  'UserPasswordRehashed',
  'UserMfaEnabled',
  'UserRecoveryCodeUsed',
  'UserMfaDisabled',
]);

/**
 * Whether the event makes cached credentials stale. True for all identity events except those that change no rights.
 */
export function changesCredentials(event: { readonly type: string }): boolean {
  return !WITHOUT_EFFECT_ON_RIGHTS.has(event.type);
}
