import type { Logger } from '../../application/ports/logger.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import { ownValue } from '../../domain/own-value.ts';

export type OpenTracing = {
  readonly tracing: Tracing;
  /** Sends the pending spans, for at most 3 seconds. Never throws. */
  close(): Promise<void>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens tracing when the standard variables of OpenTelemetry enable it: an OTLP endpoint is set, `OTEL_SDK_DISABLED` is
 * not `true`, and `OTEL_TRACES_EXPORTER` is unset or `otlp`. The SDK itself reads its other variables from the
 * environment of the process (service name, resource attributes, sampler, limits, batches, headers, timeouts,
 * compression).
 * @returns undefined when tracing is not enabled or the protocol is not supported; then the SDK is not loaded
 */
export async function openTracing({
  environment,
  logger,
}: {
  readonly environment: Environment;
  readonly logger: Logger;
}): Promise<OpenTracing | undefined> {
  if (!isEnabled(environment)) return undefined;
  const protocol =
    valueOf(environment, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ??
    valueOf(environment, 'OTEL_EXPORTER_OTLP_PROTOCOL') ??
    'http/protobuf';
  if (protocol !== 'http/protobuf' && protocol !== 'http/json') {
    logger.warn('no traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json', { protocol });
    return undefined;
  }
  const { openOtlpTracing } = await import('./otlp-tracing.ts');
  return openOtlpTracing({ protocol, logger });
}

function isEnabled(environment: Environment): boolean {
  if (valueOf(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return false;
  const exporter = valueOf(environment, 'OTEL_TRACES_EXPORTER');
  if (exporter !== undefined && exporter !== 'otlp') return false;
  return ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].some(
    (name) => valueOf(environment, name) !== undefined,
  );
}

/** Empty and blank values count as unset, as the OpenTelemetry specification requires. */
function valueOf(environment: Environment, name: string): string | undefined {
  const value = ownValue(environment, name)?.trim();
  return value === '' ? undefined : value;
}
