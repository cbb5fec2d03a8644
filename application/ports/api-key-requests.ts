/** Permission for a request to count towards the monthly usage of its key. Issued before the request is served. */
export type Admission = {
  /** UTC calendar month, `2026-11`. */
  readonly period: string;
  /** Whether the request is already counted, as it is near the limit; otherwise `record` counts it. */
  readonly counted: boolean;
};

/** A request that an API key or an admin token made. */
export type ApiKeyRequest = {
  /** Id of the key, or of the admin token. */
  readonly keyId: string;
  readonly tenant: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** The client's address in plain text; sealed before it is stored. */
  readonly ip: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly at: Date;
  /** Undefined when the request was refused before it counted; such a request is only recorded. */
  readonly admission?: Admission | undefined;
};

/** An audit entry of a key. */
export type ApiKeyAuditEntry = {
  readonly id: string;
  readonly api_key_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ip: string;
  readonly ts: string;
};

/** The usage of a key in one UTC calendar month. */
export type ApiKeyUsage = { readonly requests: number; readonly bytesIn: number; readonly bytesOut: number };

type Key = { readonly tenant: string; readonly keyId: string };

/**
 * The log of requests made with API keys and admin tokens, and the monthly usage computed from it. Both are in the
 * schema `operational`.
 */
export type ApiKeyRequests = {
  /**
   * Counts a request towards the month of its key. Returns a value rather than a promise, without a query, while the
   * key is far from its limit. The count is reverted when the recorded status is 401, 403 or 429.
   * @throws `monthly_limit_exceeded`
   */
  readonly admit: (key: Key & { readonly monthlyLimit: number }, at: Date) => Admission | Promise<Admission>;
  /** Adds a request to the next batch. Never waits; drops the oldest request when the queue is full. */
  readonly record: (request: ApiKeyRequest) => void;
  /**
   * Audit entries, newest first; `since` excludes earlier ones. Includes what this process recorded before the call.
   */
  list(
    query: Key & { readonly limit: number; readonly offset: number; readonly since?: Date | undefined },
  ): Promise<readonly ApiKeyAuditEntry[]>;
  /** The usage of one month (`2026-11`). Includes what this process recorded before the call. */
  usage(query: Key & { readonly period: string }): Promise<ApiKeyUsage>;
  /**
   * The time of the last request of each credential that was not refused; credentials without one are absent. Includes
   * what this process recorded before the call.
   */
  lastUsed(query: { readonly tenant: string; readonly ids: readonly string[] }): Promise<ReadonlyMap<string, Date>>;
  /** Permanently removes the history and usage of a key, including records that other processes have not stored yet. */
  delete(key: Key): Promise<void>;
};
