import type { Logger } from '../../application/ports/logger.ts';
import type { Tracing } from '../../application/ports/tracing.ts';

export type OpenTracing = {
  readonly tracing: Tracing;
  /** Sends what waits and ends; gives up after a few seconds. Never throws. */
  close(): Promise<void>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens tracing when the usual variables of OpenTelemetry ask for it: an OTLP endpoint is named, and neither `OTEL_SDK_DISABLED=true` nor
 * `OTEL_TRACES_EXPORTER=none` stands against it. Else nothing is loaded. The variables are the SDK's own and are read from the process's
 * environment by it (service name, resource attributes, sampler, limits, batches, headers, time-outs, compression).
 */
export async function openTracing(environment: Environment, logger: Logger): Promise<OpenTracing | undefined> {
  if (!isAsked(environment)) return undefined;
  const protocol = valueOf(environment, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? valueOf(environment, 'OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    logger.warn('no traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL is none of http/protobuf and http/json', { protocol });
    return undefined;
  }
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing({ protocol, logger });
}

function isAsked(environment: Environment): boolean {
  if (valueOf(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporter = valueOf(environment, 'OTEL_TRACES_EXPORTER');
  if (exporter !== undefined && exporter !== 'otlp') return false;
  return ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) => valueOf(environment, name) !== undefined);
}

/** Blanks and an empty text count as unset, as the specification of OpenTelemetry says. */
function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}
