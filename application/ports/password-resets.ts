/** What a reset token allows. */
export type PasswordReset = {
  readonly userId: string;
  /** Identifies the password that it may replace. */
  readonly passwordMark: string;
};

/** Password-reset tokens in the schema `operational`, stored by digest. */
export type PasswordResets = {
  /**
   * Stores a token. Without a `reset` (the address has no account) it does the same work and stores a token that allows
   * nothing.
   */
  add(reset: PasswordReset | undefined, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  find(digest: string, now: Date): Promise<PasswordReset | undefined>;
  /** Deletes all tokens of a user. */
  delete(userId: string): Promise<void>;
  /** Deletes tokens that expired before `now`. @returns the number deleted */
  sweep(now: Date): Promise<number>;
};
