/** New secrets from a cryptographic generator. */
export type RandomSecrets = {
  /** `svc_` and 40 base62 characters. */
  apiKey(): string;
  /** `svcat_` and 40 base62 characters. */
  adminToken(): string;
  /** 256 bits, base64url. */
  refreshToken(): string;
  /** 8 of the letters of user codes, 34 bits: for a person to type within minutes, under limits. */
  userCode(): string;
  /** 100 bits: 20 letters and digits in groups of five. */
  recoveryCode(): string;
};
