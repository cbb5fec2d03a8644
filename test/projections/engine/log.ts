import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { GlobalPosition, RecordedEvent } from '../../../domain/event.ts';
import { ORIGIN, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { categoryOf } from '../../../domain/stream.ts';
import type { EventSource } from '../../../projections/engine/collaborators.ts';

export type Fact = { readonly stream: string; readonly type: string; readonly data: JsonObject; readonly tenant?: string };

/** A log in memory, with the source that followers read; the event store's own suites prove the real ones. */
export type Log = {
  append(...facts: readonly Fact[]): GlobalPosition;
  readonly source: EventSource;
  /** Most events that were read and not yet asked for again. */
  readonly events: readonly RecordedEvent[];
};

/** Position of the n-th event, from 1; gaps between, as EventStoreDB has them. */
export function place(n: number): GlobalPosition {
  return positionFrom(n * 10);
}

export function recorded(n: number, { stream, type, data, tenant = 'default' }: Fact): RecordedEvent {
  return {
    id: randomUUID(),
    type,
    data,
    stream,
    revision: 0,
    position: place(n),
    recorded_at: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
    metadata: { tenant, actor: { kind: 'system', id: 'test' }, $correlationId: 'c', $causationId: 'c', occurred_at: new Date(Date.UTC(2026, 0, 1)).toISOString(), schema_version: 1 },
  };
}

export function openLog(): Log {
  const events: RecordedEvent[] = [];
  const grown = new EventEmitter().setMaxListeners(0);
  return {
    events,
    append(...facts) {
      for (const fact of facts) events.push(recorded(events.length + 1, fact));
      grown.emit('grown');
      return events.at(-1)?.position ?? ORIGIN;
    },
    source: {
      head: () => Promise.resolve(events.at(-1)?.position ?? ORIGIN),
      async *subscribe({ after, filter = {}, batchSize = 500, signal }) {
        let index = events.findIndex(({ position }) => position > after);
        if (index < 0) index = events.length;
        let behind = true;
        while (!signal.aborted) {
          const slice = events.slice(index, index + batchSize);
          index += slice.length;
          const position = slice.at(-1)?.position;
          const matching = slice.filter(
            (event) => (!filter.categories || filter.categories.includes(categoryOf(event.stream))) && (!filter.tenant || filter.tenant === event.metadata.tenant),
          );
          if (position && matching.length > 0) yield { kind: 'events', events: matching, position };
          else if (position) yield { kind: 'checkpoint', position };
          if (index < events.length) continue;
          if (behind) yield { kind: 'caught_up', position: events[index - 1]?.position ?? after };
          behind = false;
          if (index >= events.length) await once(grown, 'grown', { signal }).catch(() => undefined);
        }
      },
    },
  };
}
