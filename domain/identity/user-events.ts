import type { DomainEvent } from '../event.ts';
import type { JsonObject } from '../json.ts';

/** A value sealed by the vault; what is inside is none of the domain's business. */
export type SealedValue = JsonObject;

/** Why a session ended before its time. */
export type SessionEnd = 'signed_out' | 'refresh_token_reused';

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
  | DomainEvent<'UserPasswordChanged', { readonly password_hash: SealedValue }>
  | DomainEvent<'UserSignedIn', { readonly session_id: string; readonly tenant: string; readonly method: 'setup' | 'password' }>
  | DomainEvent<'UserSessionEnded', { readonly session_id: string; readonly reason: SessionEnd }>
  | DomainEvent<'UserDeleted', Readonly<Record<string, never>>>
  /** The key of the person is destroyed: what was sealed under it is unreadable for good. */
  | DomainEvent<'UserErased', Readonly<Record<string, never>>>;

export const USER_EVENT_TYPES: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserCreated', 'UserRolesChanged', 'UserStateChanged', 'UserPasswordChanged', 'UserSignedIn', 'UserSessionEnded', 'UserDeleted',
  'UserMembershipGranted', 'UserMembershipRemoved', 'UserErased',
]);

/** Events after which the sessions opened before them are over (spec 4 A, sign-in details). */
export const SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>(['UserRolesChanged', 'UserStateChanged', 'UserPasswordChanged', 'UserDeleted']);

/** Events after which the sessions in their tenant, opened before them, are over. */
export const TENANT_SESSION_ENDING: ReadonlySet<string> = new Set<UserEvent['type']>(['UserMembershipGranted', 'UserMembershipRemoved']);

/** Whether caches of credentials must forget what they know: a sign-in changes nobody's rights. */
export function changesCredentials(event: { readonly type: string }): boolean {
  return event.type !== 'UserSignedIn';
}

/** Narrows a stored event. @throws TypeError for a type that is no user event */
export function parseUserEvent(event: { readonly type: string; readonly data: JsonObject }): UserEvent {
  if (!USER_EVENT_TYPES.has(event.type)) throw new TypeError(`no event of a user: ${event.type}`);
  return { type: event.type, data: event.data } as UserEvent;
}
