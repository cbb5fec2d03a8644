import type { AuditRecord } from '../../domain/platform/audit-record.ts';
import { auditRecord, withoutSecrets } from '../../domain/platform/audit-record.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { CATEGORIES, streamName } from '../../domain/stream.ts';
import type { EventStore } from '../ports/event-store.ts';

/** Filters of the audit log; times are RFC 3339, both ends inclusive. */
export type AuditQuery = {
  readonly tenant: string;
  /** `<kind>:<id>` or the bare id. */
  readonly actor?: string | undefined;
  readonly type?: string | undefined;
  /** `<kind>:<id>` or the bare id. */
  readonly resource?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly limit: number;
  /** Position of the last record of the page before. */
  readonly cursor?: GlobalPosition | undefined;
  readonly signal?: AbortSignal;
};

export type AuditPage = { readonly data: readonly AuditRecord[]; readonly next_cursor: string };

/** One page of the tenant's events, newest first, straight from the event store (spec 4 A). */
export async function readAudit(eventStore: EventStore, query: AuditQuery): Promise<AuditPage> {
  const data: AuditRecord[] = [];
  for await (const event of candidates(eventStore, query)) {
    // The log is in order of appending: nothing older than `from` can follow once a whole day lies between (clocks of replicas differ).
    if (query.from !== undefined && Date.parse(event.recorded_at) < Date.parse(query.from) - DAY_MS) break;
    if (!matches(event, query)) continue;
    data.push(auditRecord(event));
    if (data.length === query.limit) return { data, next_cursor: event.position };
  }
  return { data, next_cursor: '' };
}

/** One event with its data, secrets masked. @throws `event_not_found`, also for another tenant's event */
export async function readAuditEvent(eventStore: EventStore, query: { readonly tenant: string; readonly eventId: string }): Promise<AuditRecord & { readonly data: JsonObject }> {
  const event = await eventStore.findEvent(query.eventId);
  if (event?.metadata.tenant !== query.tenant) throw refusal('event_not_found');
  return { ...auditRecord(event), data: withoutSecrets(event) };
}

const DAY_MS = 86_400_000;

/** The smallest part of the log that holds every match: one stream where the resource is named in full, else the tenant's events. */
function candidates(eventStore: EventStore, { tenant, resource, type, correlationId, cursor, signal }: AuditQuery): AsyncIterable<RecordedEvent> {
  const stream = resource === undefined ? undefined : streamOf(tenant, resource);
  const abort = signal === undefined ? {} : { signal };
  if (stream !== undefined) return before(eventStore.readStream(stream, { direction: 'backwards', ...abort }), cursor);
  return eventStore.readAll({
    direction: 'backwards',
    filter: { tenant, ...(type === undefined ? {} : { types: [type] }), ...(correlationId === undefined ? {} : { correlationId }) },
    ...(cursor === undefined ? {} : { after: cursor }),
    ...abort,
  });
}

async function* before(events: AsyncIterable<RecordedEvent>, cursor: GlobalPosition | undefined): AsyncIterable<RecordedEvent> {
  for await (const event of events) if (cursor === undefined || event.position < cursor) yield event;
}

function streamOf(tenant: string, resource: string): string | undefined {
  const category = CATEGORIES.find((kind) => resource.startsWith(`${kind}:`));
  return category && streamName({ category, tenant, id: resource.slice(category.length + 1) });
}

function matches(event: RecordedEvent, query: AuditQuery): boolean {
  const { metadata } = event;
  const at = Date.parse(metadata.occurred_at);
  return (
    metadata.tenant === query.tenant &&
    (query.type === undefined || event.type === query.type) &&
    (query.correlationId === undefined || metadata.$correlationId === query.correlationId) &&
    (query.actor === undefined || names(query.actor, metadata.actor.kind, metadata.actor.id)) &&
    (query.resource === undefined || names(query.resource, auditRecord(event).resource.kind, auditRecord(event).resource.id)) &&
    (query.from === undefined || at >= Date.parse(query.from)) &&
    (query.to === undefined || at <= Date.parse(query.to))
  );
}

/** Whether `<kind>:<id>` or a bare id names this one. */
function names(text: string, kind: string, id: string): boolean {
  return text === id || text === `${kind}:${id}`;
}
