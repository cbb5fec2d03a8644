import type { Vault } from '../ports/vault.ts';

/** What a user's sealed password hash is bound to. */
export function passwordPurpose(userId: string): string {
  return `user/${userId}/password`;
}

/** The CSRF token of a session: bound to it, known to its owner only (spec 1, credential kinds). */
export function csrfToken(vault: Pick<Vault, 'digest'>, sessionId: string): string {
  return vault.digest('session/csrf', sessionId);
}

/** Digest that a refresh token is kept under. */
export function refreshDigest(vault: Pick<Vault, 'digest'>, token: string): string {
  return vault.digest('session/refresh', token);
}

/** What the sealed secret of a user's authenticator is bound to. */
export function authenticatorPurpose(userId: string): string {
  return `user/${userId}/authenticator`;
}

/** Digest that a recovery code is kept under. */
export function recoveryDigest(vault: Pick<Vault, 'digest'>, userId: string, code: string): string {
  return vault.digest('user/recovery-code', `${userId}/${code}`);
}

/** Digest that the challenge of a sign-in is kept under. */
export function challengeDigest(vault: Pick<Vault, 'digest'>, token: string): string {
  return vault.digest('sign-in/challenge', token);
}

/** Digest that a password reset token is kept under. */
export function resetDigest(vault: Pick<Vault, 'digest'>, token: string): string {
  return vault.digest('password/reset', token);
}
