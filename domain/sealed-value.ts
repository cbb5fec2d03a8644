/**
 * A value encrypted with AES-256-GCM by the port `Vault`. The domain stores it and never opens it.
 * `$sealed` is the version of the format, `k` the id of the key, `n` the nonce, `c` the cipher text with its tag; `n`
 * and `c` are base64url.
 */
export type SealedValue = { readonly $sealed: 1; readonly k: string; readonly n: string; readonly c: string };
