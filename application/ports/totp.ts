/** Time-based codes (RFC 6238: SHA-1, 6 digits, 30 seconds; spec 4 A, MFA). */
export type Totp = {
  /** A new secret of 160 bits, base32. */
  newSecret(): string;
  /** What an authenticator reads as a QR code. */
  otpauthUrl(secret: string, account: string): string;
  /** The time step whose code this is, one step around `now` at most; undefined: none. In constant time. */
  stepOf(secret: string, code: string, now: Date): number | undefined;
};
