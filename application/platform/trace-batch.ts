import type { RecordedEvent } from '../../domain/event.ts';
import type { Span, SpanOptions, Tracing } from '../ports/tracing.ts';

/** As many as a span holds by default. */
const MOST_LINKS = 128;

/**
 * Starts the span of work on a batch of events. It links to the spans that appended them; when all of them stand in one trace it is a child of
 * the last of them, so that the trace of a single request goes on here.
 */
export function startBatchSpan(tracing: Tracing, name: string, events: readonly RecordedEvent[], kind: SpanOptions['kind'] = 'internal'): Span {
  const contexts = new Set<string>();
  for (const { metadata } of events) {
    if (metadata.$traceparent !== undefined) contexts.add(metadata.$traceparent);
    if (contexts.size === MOST_LINKS) break;
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
    attributes: { 'palimpsest.events': events.length, ...(first && last ? { 'palimpsest.position.first': first, 'palimpsest.position.last': last } : {}) },
  });
}

/** Runs work on a batch inside its span; without tracing it just runs. */
export async function traceBatch<T>(tracing: Tracing | undefined, name: string, events: readonly RecordedEvent[], kind: SpanOptions['kind'], work: () => Promise<T>): Promise<T> {
  if (!tracing) return work();
  const span = startBatchSpan(tracing, name, events, kind);
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof Error ? error.name : 'error');
    throw error;
  }
}

/** The trace's id in a `traceparent`. */
function traceOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
