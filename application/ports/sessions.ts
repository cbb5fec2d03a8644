/** A session, opened by one sign-in and extended by its refresh tokens. */
export type SessionRecord = {
  readonly sessionId: string;
  readonly userId: string;
  readonly tenant: string;
  /** Revision of the user's last session-ending event when the session was opened; a later one ends the session. */
  readonly sessionsRevision: number;
};

export type Rotation =
  | { readonly outcome: 'rotated'; readonly session: SessionRecord }
  /** The token was used before; this call or an earlier one has ended the session. */
  | { readonly outcome: 'reused'; readonly session: SessionRecord }
  /** The token is unknown or expired, or its session has ended. */
  | { readonly outcome: 'refused' };

/** Sessions and their refresh tokens, in the schema `operational`. Tokens are passed and stored as digests only. */
export type Sessions = {
  open(session: SessionRecord, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  /**
   * Replaces a refresh token with the next one, once. Of two concurrent calls with one token, the second is `reused`
   * and ends the session.
   */
  rotate(step: {
    readonly digest: string;
    readonly nextDigest: string;
    readonly nextExpiresAt: Date;
    readonly now: Date;
  }): Promise<Rotation>;
  /** Ends a session and its refresh tokens. @returns false when it had already ended */
  end(sessionId: string): Promise<boolean>;
  /** The session of a refresh token, used or unused. */
  sessionOf(digest: string): Promise<SessionRecord | undefined>;
  isOpen(sessionId: string): Promise<boolean>;
  /** Deletes sessions whose last refresh token expired before `now`. @returns the number deleted */
  sweep(now: Date): Promise<number>;
};
