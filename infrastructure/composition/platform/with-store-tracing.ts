import type { AppendResult, EventStore, StreamWrite } from '../../../application/ports/event-store.ts';
import type { Tracing } from '../../../application/ports/tracing.ts';
import { hasCode } from '../../../domain/errors.ts';
import type { NewEvent } from '../../../domain/event.ts';
import { categoryOf } from '../../../domain/stream.ts';
import { withAppends } from './with-appends.ts';

/**
 * The event store with a span for each append. The parent of the span is the trace context of its first event
 * (`$traceparent`); the appended events carry the context of the span instead.
 */
export function withStoreTracing(
  store: EventStore,
  { tracing }: { readonly tracing: Tracing | undefined },
): EventStore {
  if (!tracing) return store;
  async function spanned<Result extends AppendResult | readonly AppendResult[]>(
    writes: readonly StreamWrite[],
    send: (carrying: readonly StreamWrite[]) => Promise<Result>,
  ): Promise<Result> {
    const events = writes.flatMap((write) => write.events);
    const [first] = events;
    const span = tracing?.start('append', {
      kind: 'internal',
      parent: first?.metadata.$traceparent,
      attributes: {
        'palimpsest.category': categoryOf(writes.at(-1)?.stream ?? ''),
        'palimpsest.event': writes.at(-1)?.events.at(-1)?.type ?? '',
        'palimpsest.events': events.length,
        ...(first
          ? { 'palimpsest.tenant': first.metadata.tenant, 'palimpsest.correlation_id': first.metadata.$correlationId }
          : {}),
      },
    });
    if (!span) return send(writes);
    const carried = (event: NewEvent): NewEvent => ({
      ...event,
      metadata: { ...event.metadata, $traceparent: span.traceparent },
    });
    try {
      const result = await send(writes.map((write) => ({ ...write, events: write.events.map(carried) })));
      const { position } = [result].flat().at(-1) ?? {};
      if (position !== undefined) span.set({ 'palimpsest.position': position });
      span.end();
      return result;
    } catch (error) {
      span.end(hasCode(error, 'conflict') ? 'conflict' : error instanceof Error ? error.name : 'error');
      throw error;
    }
  }
  const appendMany = store.appendMany?.bind(store);
  return withAppends(store, {
    append: (stream, events, options) =>
      spanned([{ stream, events, expected: options.expected }], ([write]) =>
        store.append(stream, write?.events ?? events, options),
      ),
    appendMany: appendMany && ((writes) => spanned(writes, appendMany)),
  });
}
