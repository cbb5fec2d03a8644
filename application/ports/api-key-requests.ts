/** That a request counts towards the month of its key: given before it is served. */
export type Admission = {
  /** UTC calendar month, `2026-11`. */
  readonly period: string;
  /** Whether it is counted already, as near a limit; else with its record. */
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
  /** Client's address, in clear; sealed before it is stored. */
  readonly ip: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly at: Date;
  /** Undefined for what was refused before it counted: recorded only. */
  readonly admission?: Admission | undefined;
};

/** An audit entry of a key (spec 1, API key audit entry). */
export type ApiKeyAuditEntry = {
  readonly id: string;
  readonly api_key_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ip: string;
  readonly ts: string;
};

/** What a key used in one UTC calendar month (spec 1, API key usage). */
export type ApiKeyUsage = { readonly requests: number; readonly bytesIn: number; readonly bytesOut: number };

type Key = { readonly tenant: string; readonly keyId: string };

/** The log of what keys and admin tokens requested, and what that adds up to; both in `operational`. */
export type ApiKeyRequests = {
  /**
   * Lets a request count towards its key's month. Without a promise far from the limit: then it costs no query. Of requests answered 401, 403 or 429
   * the count is taken back with their record. @throws `monthly_limit_exceeded`
   */
  readonly admit: (key: Key & { readonly monthlyLimit: number }, at: Date) => Admission | Promise<Admission>;
  /** Takes a request into the next batch; never waits, drops the oldest when the queue is full. */
  readonly record: (request: ApiKeyRequest) => void;
  /** Newest first; `since` leaves older ones out. Sees what this process recorded before the call. */
  list(query: Key & { readonly limit: number; readonly offset: number; readonly since?: Date | undefined }): Promise<readonly ApiKeyAuditEntry[]>;
  /** Of one month (`2026-11`). Sees what this process recorded before the call. */
  usage(query: Key & { readonly period: string }): Promise<ApiKeyUsage>;
  /** When credentials last made a request that was not refused; those that never did are left out. Sees what this process recorded before the call. */
  lastUsed(query: { readonly tenant: string; readonly ids: readonly string[] }): Promise<ReadonlyMap<string, Date>>;
  /** Removes a key's history and usage for good, also what other processes still hold of it. */
  forget(key: Key): Promise<void>;
};
