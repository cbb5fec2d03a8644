/** Time-based one-time passwords (RFC 6238: SHA-1, 6 digits, 30 seconds). */
export type Totp = {
  /** Generates a secret of 160 bits, base32. */
  newSecret(): string;
  /** The `otpauth:` URL that authenticator apps read from a QR code. */
  otpauthUrl(secret: string, account: string): string;
  /**
   * The time step of the code, searched from one step before `now` to one step after; undefined when none matches.
   * Takes constant time.
   */
  stepOf(secret: string, code: string, now: Date): number | undefined;
};
