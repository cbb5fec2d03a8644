/** Attributes of a span. No personal data, no secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export type SpanOptions = {
  /** The kind of span: `server` answers a request, `client` makes one, `producer` and `consumer` use a message bus. */
  readonly kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** `traceparent` (W3C Trace Context) of the parent span. Without a valid one a new trace begins. */
  readonly parent?: string | undefined;
  /** `traceparent`s of related spans that are not the parent. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
};

/** An open span. */
export type Span = {
  /** The context of this span as W3C `traceparent`, to pass to the work that it causes. */
  readonly traceparent: string;
  readonly traceId: string;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Ends the span. `failure` marks it as failed and gives the reason, without personal data. */
  end(failure?: string): void;
};

/**
 * The port of tracing. When tracing is off it does not exist: callers have `Tracing | undefined` and do no work for it.
 */
export type Tracing = {
  /** Never throws. */
  start(name: string, options: SpanOptions): Span;
};
