/** A session: what one sign-in opened, kept alive by its refresh tokens. */
export type SessionRecord = {
  readonly sessionId: string;
  readonly userId: string;
  readonly tenant: string;
  /** Revision of the user's last session-ending event when it was opened; a later one ends it. */
  readonly sessionsRevision: number;
};

export type Rotation =
  | { readonly outcome: 'rotated'; readonly session: SessionRecord }
  /** The token was used before: the session has been ended by this call or an earlier one. */
  | { readonly outcome: 'reused'; readonly session: SessionRecord }
  /** Unknown, expired, or its session is over. */
  | { readonly outcome: 'refused' };

/** Sessions and their refresh tokens in `operational` (rule 1: no history). Tokens come and are kept as digests only. */
export type Sessions = {
  open(session: SessionRecord, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  /** Replaces a token by the next of its family, once: of two that race, one is `reused` and the session ends. */
  rotate(step: { readonly digest: string; readonly nextDigest: string; readonly nextExpiresAt: Date; readonly now: Date }): Promise<Rotation>;
  /** Ends a session and its refresh tokens. @returns false when it was over already */
  end(sessionId: string): Promise<boolean>;
  /** Session that a refresh token belongs to, used or not. */
  sessionOf(digest: string): Promise<SessionRecord | undefined>;
  isOpen(sessionId: string): Promise<boolean>;
  /** Removes sessions whose last refresh token expired before `now`. @returns how many */
  purge(now: Date): Promise<number>;
};
