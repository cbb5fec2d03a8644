/** The person that a token of an external issuer identifies, and the access that the matching policy grants. */
export type TrustedToken = {
  /** Keyed digest of issuer and subject: stable for one person and not reversible. */
  readonly subject: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly expiresAtMs: number;
};

/** Verifies tokens of external OpenID Connect issuers. */
export type TrustedIssuers = {
  /**
   * @returns undefined when no policy matches the token
   * @throws `unavailable` when the issuer's keys are unreachable, so that an outage is not reported as an invalid token
   */
  verify(token: string, now: Date): Promise<TrustedToken | undefined>;
};
