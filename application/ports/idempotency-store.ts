/** What identifies a repeated request: the same key of the same caller on the same route of the same tenant. */
export type IdempotencyScope = {
  readonly tenant: string;
  /** Method and path of the request. */
  readonly route: string;
  /** Kind and id of the credential. */
  readonly caller: string;
  readonly key: string;
};

/** A response as the store keeps it for replays. It contains no secret: the caller removes secrets before `complete`. */
export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * `fresh`: the caller performs the request, then completes or abandons the attempt. `replay`: the request was performed
 * before. `mismatch`: the key was used with another body. `in_progress`: another attempt has not ended.
 */
export type IdempotencyAttempt =
  | { readonly kind: 'fresh'; readonly attempt: string }
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in_progress' };

/**
 * Keeps the responses of requests with an `Idempotency-Key` for 24 hours. A key whose process died before it responded
 * becomes free again after a time that the store chooses.
 */
export type IdempotencyStore = {
  /** Reserves the key. `bodyHash` is the SHA-256 of the body in hex. */
  begin(scope: IdempotencyScope, bodyHash: string): Promise<IdempotencyAttempt>;
  /** Stores the response of an attempt that `begin` returned. */
  complete(scope: IdempotencyScope, attempt: string, response: StoredResponse): Promise<void>;
  /** Frees the key: the request had no effect. */
  abandon(scope: IdempotencyScope, attempt: string): Promise<void>;
};
