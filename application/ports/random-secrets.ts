/** New secrets from a cryptographic generator. */
export type RandomSecrets = {
  /** `svc_` and 40 base62 characters. */
  apiKey(): string;
  /** 256 bits, base64url. */
  refreshToken(): string;
};
