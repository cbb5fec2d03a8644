/** A request to an address that a user chose (spec 3, outbound request). */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';
  readonly url: string;
  /** Sent on every hop. Names and values were checked (`domain/automation/request-headers.ts`). */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to the origin of `url` only: a redirect to another origin drops them (credentials, signatures). */
  readonly originHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of the answer's body that are read; the rest is cut off. Default 1 MiB. */
  readonly maxResponseBytes?: number;
  /** Bound of everything: name lookup, connecting, redirects, body. Default 10 000 ms. */
  readonly timeoutMs?: number;
  /** Redirects that are followed. Default 3. */
  readonly maxRedirects?: number;
  /** Ends the request from our side. */
  readonly signal?: AbortSignal;
};

/** What became of it. Error texts name neither addresses nor the URL. */
export type OutboundOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** As text (UTF-8), cut at `maxResponseBytes`; never decompressed. */
      readonly body: string;
      readonly truncated: boolean;
      readonly redirects: number;
      /** Milliseconds that the answer asks to wait (`Retry-After`); undefined where it does not, or not intelligibly. */
      readonly retryAfterMs?: number | undefined;
      readonly durationMs: number;
    }
  /** The guard refused the address, the name, the port or a redirect's target. Nothing was sent there. */
  | { readonly kind: 'refused'; readonly error: string; readonly durationMs: number }
  /** The endpoint could not be reached, broke the protocol or took too long. */
  | { readonly kind: 'failed'; readonly error: string; readonly durationMs: number }
  /** The fault is ours (no sockets, no network, shutting down): not to be charged to the endpoint. */
  | { readonly kind: 'own_fault'; readonly error: string; readonly durationMs: number };

/**
 * The only way out of the house to an address that a user chose: webhooks, alert channels, probes, jobs, flows.
 * Only public addresses and those inside `WEBHOOK_ALLOWED_PRIVATE_NETWORKS` are reached. Never throws.
 */
export type Outbound = {
  send(request: OutboundRequest): Promise<OutboundOutcome>;
  /**
   * Whether a URL may be stored: its form, and that its host resolves to allowed addresses now.
   * @returns why not, in words fit for the caller; undefined when it may
   */
  check(url: string): Promise<string | undefined>;
  /** Ends the pooled connections after the requests in flight. */
  close(): Promise<void>;
};
