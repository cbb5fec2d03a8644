/** What a span says of itself. No personal data, no secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanOptions = {
  /** Who talks to whom: `server` answers a request, `client` makes one, `producer` and `consumer` stand at a message bus. */
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** `traceparent` (W3C Trace Context) of the span that caused this one; without a valid one a trace begins. */
  readonly parent?: string | undefined;
  /** `traceparent`s of spans that it has to do with and is no child of. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
};

/** One piece of work on its way. */
export type Span = {
  /** Context of this span as W3C `traceparent`, for what it causes. */
  readonly traceparent: string;
  readonly traceId: string;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Ends the span. `failure`: that it failed, and why, in words without personal data. */
  end(failure?: string): void;
};

/** The port of tracing. Where nobody asked for traces there is none: callers hold `Tracing | undefined`, and nothing is spent. */
export type Tracing = {
  /** Never throws. */
  start(name: string, options: SpanOptions): Span;
};
