import type { RecordedEvent } from '../../domain/event.ts';
import type { Span, SpanOptions, Tracing } from '../ports/tracing.ts';

/** OpenTelemetry's default limit of links per span. */
const MAX_LINKS = 128;

export type BatchSpan = {
  readonly name: string;
  readonly events: readonly RecordedEvent[];
  /** Default: `internal`. */
  readonly kind?: SpanOptions['kind'];
};

/**
 * Starts the span of a batch of events. It links to the spans that appended the events. When all of these belong to one
 * trace, it is a child of the last of them, so that the trace of a single request continues.
 */
export function startBatchSpan(
  { name, events, kind = 'internal' }: BatchSpan,
  { tracing }: { readonly tracing: Tracing },
): Span {
  const contexts = new Set<string>();
  for (const { metadata } of events) {
    if (metadata.$traceparent !== undefined) contexts.add(metadata.$traceparent);
    if (contexts.size === MAX_LINKS) break;
  }
  const links = [...contexts];
  const parent = links.at(-1);
  const shared = parent !== undefined && links.every((link) => traceOf(link) === traceOf(parent));
  const first = events[0]?.position;
  const last = events.at(-1)?.position;
  return tracing.start(name, {
    kind,
    parent: shared ? parent : undefined,
    links,
    attributes: {
      'palimpsest.events': events.length,
      ...(first && last ? { 'palimpsest.position.first': first, 'palimpsest.position.last': last } : {}),
    },
  });
}

/** Runs work on a batch inside the span of the batch; without tracing it only runs the work. */
export async function traceBatch<T>(
  { work, ...batch }: BatchSpan & { readonly work: () => Promise<T> },
  { tracing }: { readonly tracing: Tracing | undefined },
): Promise<T> {
  if (!tracing) return work();
  const span = startBatchSpan(batch, { tracing });
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'error');
    throw error;
  }
}

/** The trace id of a `traceparent`. */
function traceOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
