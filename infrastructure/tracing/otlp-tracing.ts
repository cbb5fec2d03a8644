import {
  type Context,
  DiagLogLevel,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  diag,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { withDeadline } from '../../application/concurrency/with-deadline.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Span, SpanOptions } from '../../application/ports/tracing.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import type { OpenTracing } from './open-tracing.ts';

/** Longest time to send pending spans at the end, so that an unreachable collector does not delay the shutdown. */
const CLOSE_MS = 3_000;

const KINDS: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/**
 * Opens tracing with the OpenTelemetry SDK. Spans are sent to a collector by OTLP over HTTP. No library is
 * instrumented.
 */
export async function openOtlpTracing({
  protocol,
  logger,
}: {
  readonly protocol: 'http/protobuf' | 'http/json';
  readonly logger: Logger;
}): Promise<OpenTracing> {
  logSdkDiagnostics(logger);
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'palimpsest' }))
    .merge(detectResources({ detectors: [hostDetector, envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(await exporterOf(protocol))],
  });
  const tracer = provider.getTracer('palimpsest');
  return {
    tracing: {
      start(name, { kind, parent, links = [], attributes = {} }) {
        const span = tracer.startSpan(
          name,
          { kind: KINDS[kind], attributes, links: links.flatMap(linkTo) },
          contextOf(parent),
        );
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
      const done = provider.shutdown().catch((error: unknown) => {
        logger.warn('the last spans were not sent', { reason: reasonOf(error) });
      });
      await withDeadline(done, CLOSE_MS, () => undefined);
    },
  };
}

async function exporterOf(protocol: 'http/protobuf' | 'http/json'): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a `traceparent` of version 00. @returns undefined for any other text */
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

/**
 * Writes warnings and errors of the SDK to the log, for example an unreachable collector. The same message is logged
 * once a minute.
 */
function logSdkDiagnostics(logger: Logger): void {
  const loggedAt = new Map<string, number>();
  const log = (level: 'warn' | 'error') => (message: string) => {
    const reason = message.slice(0, 300);
    const now = performance.now();
    if (now - (loggedAt.get(reason) ?? -Infinity) < 60_000) return;
    if (loggedAt.size > 100) loggedAt.clear();
    loggedAt.set(reason, now);
    logger[level]('tracing', { reason });
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: log('error'), warn: log('warn'), info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
