import { startReceiver } from '../support/webhook-receiver.ts';

/** A received span. */
export type CollectedSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** OTLP span kind: 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  /** `service.name` of the process that sent the span. */
  readonly service: unknown;
};

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type SentSpan = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  links?: { traceId: string; spanId: string }[];
  attributes?: Attribute[];
  status?: { code?: number };
};
type Sent = { resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[] };

/** A collector of OTLP over HTTP with JSON, on the loopback interface. */
export type OtlpCollector = {
  readonly url: string;
  /** The spans received so far. */
  spans(): readonly CollectedSpan[];
  /** The requests received so far. */
  readonly received: Awaited<ReturnType<typeof startReceiver>>['requests'];
  close(): Promise<void>;
};

export async function startCollector(): Promise<OtlpCollector> {
  const receiver = await startReceiver({
    answer: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  });
  return {
    url: receiver.url,
    received: receiver.requests,
    spans: () => receiver.requests.flatMap(({ body }) => (JSON.parse(body) as Sent).resourceSpans.flatMap(spansOf)),
    close: () => receiver.close(),
  };
}

function spansOf({ resource, scopeSpans }: Sent['resourceSpans'][number]): readonly CollectedSpan[] {
  const service = valuesOf(resource.attributes)['service.name'];
  return scopeSpans.flatMap(({ spans }) =>
    spans.map(({ name, traceId, spanId, parentSpanId, kind, links = [], attributes = [], status }) => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      kind,
      service,
      links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
      attributes: valuesOf(attributes),
      failed: status?.code === 2,
    })),
  );
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
