/** A request that an API key made. */
export type ApiKeyRequest = {
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

/** The log of keys' requests, in `operational`. */
export type ApiKeyRequests = {
  /** Takes a request into the next batch; never waits, drops the oldest when the queue is full. */
  readonly record: (request: ApiKeyRequest) => void;
  /** Newest first; `since` leaves older ones out. Sees what this process recorded before the call. */
  list(query: { readonly tenant: string; readonly keyId: string; readonly limit: number; readonly offset: number; readonly since?: Date | undefined }): Promise<readonly ApiKeyAuditEntry[]>;
  /** Removes a key's history. */
  forget(key: { readonly tenant: string; readonly keyId: string }): Promise<void>;
};
