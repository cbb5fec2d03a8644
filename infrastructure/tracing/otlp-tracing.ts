import type { Context, Link, SpanContext } from '@opentelemetry/api';
import { diag, DiagLogLevel, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { defaultResource, detectResources, envDetector, hostDetector, resourceFromAttributes } from '@opentelemetry/resources';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../../application/ports/logger.ts';
import type { Span, SpanOptions } from '../../application/ports/tracing.ts';
import type { OpenTracing } from './open-tracing.ts';

/** Spans that wait have this long at the end: a collector that is away does not hold the process. */
const CLOSE_MS = 3_000;

const KINDS: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL,
};

/** Tracing by the SDK of OpenTelemetry, sent to a collector by OTLP over HTTP. Nothing global is registered: no library is instrumented. */
export async function openOtlpTracing({ protocol, logger }: { readonly protocol: 'http/protobuf' | 'http/json'; readonly logger: Logger }): Promise<OpenTracing> {
  hearTheSdk(logger);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'palimpsest' }))
    .merge(detectResources({ detectors: [hostDetector, envDetector] }));
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(await exporterOf(protocol))] });
  const tracer = provider.getTracer('palimpsest');
  return {
    tracing: {
      start(name, { kind, parent, links = [], attributes = {} }) {
        const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, links: links.flatMap(linkTo) }, contextOf(parent));
        const { traceId, spanId, traceFlags } = span.spanContext();
        return {
          traceId,
          traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
          rename(renamed) {
            span.updateName(renamed);
          },
          set(more) {
            span.setAttributes(more);
          },
          end(failure) {
            if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
            span.end();
          },
        } satisfies Span;
      },
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_MS);
      });
      const done = provider.shutdown().catch((error: unknown) => {
        logger.warn('the last spans were not sent', { reason: String(error) });
      });
      await Promise.race([done, late]);
      clearTimeout(timer);
    },
  };
}

async function exporterOf(protocol: 'http/protobuf' | 'http/json'): Promise<SpanExporter> {
  const { OTLPTraceExporter } = protocol === 'http/json' ? await import('@opentelemetry/exporter-trace-otlp-http') : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** @returns undefined for what is no context of version 00 */
function parse(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const context = { traceId, spanId, traceFlags: parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}

function contextOf(parent: string | undefined): Context {
  const context = parent === undefined ? undefined : parse(parent);
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

function linkTo(traceparent: string): readonly Link[] {
  const context = parse(traceparent);
  return context ? [{ context }] : [];
}

/** What the SDK has to say (a collector that is away, a value it does not understand) goes to our log, the same words once a minute. */
function hearTheSdk(logger: Logger): void {
  const heard = new Map<string, number>();
  const say = (level: 'warn' | 'error') => (message: string) => {
    const words = message.slice(0, 300);
    const now = performance.now();
    if (now - (heard.get(words) ?? -Infinity) < 60_000) return;
    if (heard.size > 100) heard.clear();
    heard.set(words, now);
    logger[level]('tracing', { reason: words });
  };
  const quiet = (): void => undefined;
  diag.setLogger({ error: say('error'), warn: say('warn'), info: quiet, debug: quiet, verbose: quiet }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
