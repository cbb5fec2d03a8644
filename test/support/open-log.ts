import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { EventStore } from '../../application/ports/event-store.ts';
import { type GlobalPosition, ORIGIN, type RecordedEvent, positionFrom } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { categoryOf } from '../../domain/stream.ts';
import { testMetadata } from './test-metadata.ts';

export type TestEvent = {
  readonly stream: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly tenant?: string;
};

/** A log in memory that followers can read. The contract suite tests the real event stores. */
export type Log = {
  append(...added: readonly TestEvent[]): GlobalPosition;
  /** Appends the events all or none. */
  appendTogether(...added: readonly TestEvent[]): GlobalPosition;
  readonly eventStore: Pick<EventStore, 'head' | 'subscribe'>;
  /** All events of the log. */
  readonly events: readonly RecordedEvent[];
};

/** Position of the n-th event, counted from 1, with gaps between positions as in EventStoreDB. */
export function positionOf(n: number): GlobalPosition {
  return positionFrom(n * 10);
}

export function recorded(n: number, { stream, type, data, tenant = 'default' }: TestEvent): RecordedEvent {
  return {
    id: randomUUID(),
    type,
    data,
    stream,
    revision: 0,
    position: positionOf(n),
    recorded_at: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
    metadata: testMetadata({ tenant, occurred_at: new Date(Date.UTC(2026, 0, 1)).toISOString() }),
  };
}

export function openLog(): Log {
  const events: RecordedEvent[] = [];
  const grown = new EventEmitter().setMaxListeners(0);
  return {
    events,
    append(...added) {
      for (const event of added) events.push(recorded(events.length + 1, event));
      grown.emit('grown');
      return events.at(-1)?.position ?? ORIGIN;
    },
    appendTogether(...added) {
      const end = positionOf(events.length + added.length);
      for (const event of added) {
        const one = recorded(events.length + 1, event);
        events.push(one.position < end ? { ...one, append_end: end } : one);
      }
      grown.emit('grown');
      return end;
    },
    eventStore: {
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
            (event) =>
              (!filter.categories || filter.categories.includes(categoryOf(event.stream))) &&
              (!filter.tenant || filter.tenant === event.metadata.tenant),
          );
          if (position && matching.length > 0)
            yield { kind: 'events', events: matching, bytes: JSON.stringify(matching).length, position };
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
