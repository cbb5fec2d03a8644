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
