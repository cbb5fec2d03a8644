/** A request to a URL that a user configured. */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: string;
  /** Sent on every hop. Names and values are validated by `domain/automation/request-headers.ts`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to the origin of `url` only; dropped on a redirect to another origin (credentials, signatures). */
  readonly originHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum number of bytes read from the response body; the rest is discarded. Default 1 MiB. */
  readonly maxResponseBytes?: number;
  /** Limit for the whole request in milliseconds: name lookup, connecting, redirects, body. Default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum number of redirects. Default 3. */
  readonly maxRedirects?: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
};

/** The outcome of a request. Error texts contain neither addresses nor the URL. */
export type OutboundOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** UTF-8 text, truncated at `maxResponseBytes`; never decompressed. */
      readonly body: string;
      readonly truncated: boolean;
      readonly redirects: number;
      /** The delay that `Retry-After` requests, in milliseconds; undefined when absent or invalid. */
      readonly retryAfterMs?: number | undefined;
      readonly durationMs: number;
    }
  /** The address filter refused the address, the name, the port or the target of a redirect. Nothing was sent there. */
  | { readonly kind: 'refused'; readonly error: string; readonly durationMs: number }
  /** The endpoint was unreachable, violated the protocol or exceeded the time limit. */
  | { readonly kind: 'failed'; readonly error: string; readonly durationMs: number }
  /** The failure is local (no sockets, no network, shutdown) and does not count against the endpoint. */
  | { readonly kind: 'local_fault'; readonly error: string; readonly durationMs: number };

/**
 * The only way to send a request to a URL that a user configured: webhooks, alert channels, probes, jobs, flows.
 * Reaches public addresses and those in `WEBHOOK_ALLOWED_PRIVATE_NETWORKS` only. Never throws.
 */
export type Outbound = {
  send(request: OutboundRequest): Promise<OutboundOutcome>;
  /**
   * Checks whether a URL may be stored: its form, and that its host currently resolves to allowed addresses.
   * @returns the reason against it, in words for the caller; undefined when it may
   */
  check(url: string): Promise<string | undefined>;
  /** Closes the pooled connections after the requests in flight. */
  close(): Promise<void>;
};
