import { type RecordedEvent, positionFrom } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';

/** An event of the log, with default members for those that the test does not give. */
export function recordedEvent(
  given: Partial<RecordedEvent> & { readonly number?: number; readonly data?: JsonObject } = {},
): RecordedEvent {
  const { number = 1, ...rest } = given;
  return {
    id: `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    type: 'EntryCreated',
    stream: 'entry-acme.01890000-0000-7000-8000-0000000000aa',
    revision: 0,
    position: positionFrom(number),
    recorded_at: '2026-01-02T03:04:05.678Z',
    data: {},
    metadata: {
      tenant: 'acme',
      actor: { kind: 'user', id: 'u1' },
      $correlationId: 'correlation-1',
      $causationId: 'causation-1',
      occurred_at: '2026-01-02T03:04:05.000Z',
      schema_version: 1,
    },
    ...rest,
  };
}

/** `count` events distributed over `streams` entries. Each call returns equal events. */
export function recordedEvents(count: number, streams: number): RecordedEvent[] {
  return Array.from({ length: count }, (_, index) =>
    recordedEvent({
      number: index + 1,
      type: index < streams ? 'EntryCreated' : 'EntryFieldsChanged',
      stream: `entry-acme.entry${index % streams}`,
      revision: Math.floor(index / streams),
      data: { fields: { number: index } },
    }),
  );
}
