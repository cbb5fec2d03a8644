import type { RecordedEvent } from '../../domain/event.ts';

/**
 * Headers of a message according to the CloudEvents Kafka binding, binary mode. `ce_id` is the event's id; consumers
 * use it to drop duplicates. `ce_sequence` is the event's position, which sorts as text (CloudEvents extension
 * `sequence`). `traceparent` (W3C Trace Context) is that of the append; it is absent when the append was not traced.
 */
export function cloudEventHeaders(
  event: RecordedEvent,
  overrides: { readonly type?: string; readonly schemaVersion?: number } = {},
): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: event.id,
    ce_type: overrides.type ?? event.type,
    ce_source: `/tenants/${event.metadata.tenant}`,
    ce_subject: event.stream,
    ce_time: event.metadata.occurred_at,
    ce_sequence: event.position,
    tenant: event.metadata.tenant,
    correlation_id: event.metadata.$correlationId,
    schema_version: String(overrides.schemaVersion ?? event.metadata.schema_version),
    ...(event.metadata.$traceparent === undefined ? {} : { traceparent: event.metadata.$traceparent }),
  };
}
