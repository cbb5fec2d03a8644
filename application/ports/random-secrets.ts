/** Generates secrets with a cryptographic random generator. */
export type RandomSecrets = {
  /** `svc_` and 40 base62 characters. */
  apiKey(): string;
  /** `svcat_` and 40 base62 characters. */
  adminToken(): string;
  /** 256 bits, base64url. */
  refreshToken(): string;
  /** 8 letters of the user-code alphabet, 34 bits; short enough to type, valid for minutes and rate-limited. */
  userCode(): string;
  /** 20 letters and digits in groups of five, 100 bits. */
  recoveryCode(): string;
};
