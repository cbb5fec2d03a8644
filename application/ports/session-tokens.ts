import type { JsonObject } from '../../domain/json.ts';

/**
 * The claims of an access token. Roles are informative for other services; this service reads the roles from its read
 * model.
 */
export type SessionClaims = {
  readonly userId: string;
  readonly sessionId: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly sessionsRevision: number;
};

/** Signs and verifies the access tokens of sessions. */
export type SessionTokens = {
  sign(claims: SessionClaims, now: Date): Promise<{ readonly token: string; readonly expiresIn: number }>;
  /** @returns undefined unless it is a valid, unexpired token of this installation. Roles are not returned. */
  verify(
    token: string,
    now: Date,
  ): Promise<(Omit<SessionClaims, 'roles'> & { readonly expiresAtMs: number }) | undefined>;
  /** The public keys currently accepted, as `/.well-known/jwks.json` returns them. */
  jwks(now: Date): { readonly keys: readonly JsonObject[] };
};
