import type { Vault } from '../ports/vault.ts';

type DigestDependencies = { readonly vault: Pick<Vault, 'digest'> };

/** Purpose that a user's sealed password hash is bound to. */
export function passwordPurpose(userId: string): string {
  return `user/${userId}/password`;
}

/** The CSRF token of a session. It is derived from the session id, so it is not stored. */
export function csrfToken({ sessionId }: { readonly sessionId: string }, { vault }: DigestDependencies): string {
  return vault.digest('session/csrf', sessionId);
}

/** Digest under which a refresh token is stored. */
export function refreshDigest({ token }: { readonly token: string }, { vault }: DigestDependencies): string {
  return vault.digest('session/refresh', token);
}

/** Purpose that the sealed secret of a user's authenticator is bound to. */
export function authenticatorPurpose(userId: string): string {
  return `user/${userId}/authenticator`;
}

/** Digest under which a recovery code is stored. `code` has the form of `recoveryCode`. */
export function recoveryDigest(
  { userId, code }: { readonly userId: string; readonly code: string },
  { vault }: DigestDependencies,
): string {
  return vault.digest('user/recovery-code', `${userId}/${code}`);
}

/** Digest under which the challenge of a sign-in is stored. */
export function challengeDigest({ token }: { readonly token: string }, { vault }: DigestDependencies): string {
  return vault.digest('sign-in/challenge', token);
}

/** Digest under which a password reset token is stored. */
export function resetDigest({ token }: { readonly token: string }, { vault }: DigestDependencies): string {
  return vault.digest('password/reset', token);
}
