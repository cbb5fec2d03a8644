/** What a reset token is good for. */
export type PasswordReset = {
  readonly userId: string;
  /** Names the password that it may replace. */
  readonly passwordMark: string;
};

/** Reset tokens in `operational` (rule 1: no history), by digest. */
export type PasswordResets = {
  /** Keeps a token; one that is good for nothing, of an address without an account, takes the same way. */
  add(reset: PasswordReset | undefined, token: { readonly digest: string; readonly expiresAt: Date }): Promise<void>;
  find(digest: string, now: Date): Promise<PasswordReset | undefined>;
  /** Forgets every token of a user. */
  forget(userId: string): Promise<void>;
  /** Removes those that expired before `now`. @returns how many */
  purge(now: Date): Promise<number>;
};
