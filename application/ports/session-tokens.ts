import type { JsonObject } from '../../domain/json.ts';

/** What an access token says. Roles are for readers outside; the service asks its own read model. */
export type SessionClaims = {
  readonly userId: string;
  readonly sessionId: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly sessionsRevision: number;
};

/** Access tokens of sessions (spec 1, session rules). */
export type SessionTokens = {
  sign(claims: SessionClaims, now: Date): Promise<{ readonly token: string; readonly expiresIn: number }>;
  /** @returns undefined for anything that is not a token of ours in force. Roles are not read back. */
  verify(token: string, now: Date): Promise<(Omit<SessionClaims, 'roles'> & { readonly expiresAtMs: number }) | undefined>;
  /** The public keys that verify at the moment, as `/.well-known/jwks.json` answers them. */
  jwks(now: Date): { readonly keys: readonly JsonObject[] };
};
