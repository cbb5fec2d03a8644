/** Who an outside issuer's token speaks for, and what its policy opens. */
export type TrustedToken = {
  /** Keyed digest of issuer and subject: the same for the same person, and nothing that tells who it is. */
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly expiresAtMs: number;
};

/** Tokens of outside OpenID Connect issuers (spec 1, session rules; spec 4 A, sign-in details). */
export type TrustedIssuers = {
  /**
   * @returns undefined for whatever no policy covers
   * @throws `unavailable` when the issuer's keys can't be had, so that nobody takes its outage for a bad token
   */
  verify(token: string, now: Date): Promise<TrustedToken | undefined>;
};
