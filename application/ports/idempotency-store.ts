/** What identifies a repeated request: the same key of the same caller on the same route of the same tenant. */
export type IdempotencyScope = {
  readonly tenant: string;
  /** Method and path of the request. */
  readonly route: string;
  /** Kind and id of the credential. */
  readonly caller: string;
  readonly key: string;
};

/**
 * A response as the store keeps it for replays. It contains no secret: the caller removes secrets before `complete`.
 */
export type StoredResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type FreshAttempt = {
  readonly kind: 'fresh';
  readonly attempt: string;
  /** Id of the request that used the key first. */
  readonly requestId: string;
  /** When the key was used first. */
  readonly begunAt: Date;
  /** Whether an earlier attempt began and its outcome is not known: it may have written. */
  readonly isRepeat: boolean;
};

/**
 * `fresh`: the caller performs the request, then completes, suspends or abandons the attempt. `replay`: the request was
 * performed before. `mismatch`: the key was used with another body. `in_progress`: another attempt has not ended.
 */
export type IdempotencyAttempt =
  | FreshAttempt
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  | { readonly kind: 'mismatch' }
  | { readonly kind: 'in_progress' };

/**
 * Keeps the responses of requests with an `Idempotency-Key` for 24 hours. When a process dies before it responds, the
 * same request may be attempted again after a time that the store chooses; the key stays bound to its body.
 */
export type IdempotencyStore = {
  /** Reserves the key. `bodyHash` is the SHA-256 of the body in hex, `requestId` the id (a UUID) of this request. */
  begin(
    scope: IdempotencyScope,
    request: { readonly bodyHash: string; readonly requestId: string },
  ): Promise<IdempotencyAttempt>;
  /** Stores the response of an attempt that `begin` returned. */
  complete(scope: IdempotencyScope, attempt: string, response: StoredResponse): Promise<void>;
  /** Allows the next attempt at once: this one failed, and it is not known whether it had an effect. */
  suspend(scope: IdempotencyScope, attempt: string): Promise<void>;
  /** Frees the key: the request had no effect. */
  abandon(scope: IdempotencyScope, attempt: string): Promise<void>;
};
