import { DAY_MS } from '../../domain/durations.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition, RecordedEvent } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import type { JsonObject } from '../../domain/json.ts';
import {
  type AuditReader,
  INSTALLATION_CATEGORIES,
  INSTALLATION_TYPES_OF_A_TENANT,
  isVisibleTo,
} from '../../domain/platform/audit-audience.ts';
import { type AuditRecord, auditRecord, withoutSecrets } from '../../domain/platform/audit-record.ts';
import { CATEGORIES, streamName } from '../../domain/stream.ts';
import { mergeEvents } from '../merge-events.ts';
import type { EventFilter, EventStore } from '../ports/event-store.ts';

/** Filters of the audit log. Times are RFC 3339; both ends are inclusive. */
export type AuditQuery = AuditReader & {
  /** `<kind>:<id>` or the bare id. */
  readonly actor?: string | undefined;
  readonly type?: string | undefined;
  /** `<kind>:<id>` or the bare id. */
  readonly resource?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly correlationId?: string | undefined;
  readonly limit: number;
  /** `next_cursor` of the previous page. */
  readonly cursor?: GlobalPosition | undefined;
  readonly signal?: AbortSignal;
};

/** `next_cursor` is empty on the last page. */
export type AuditPage = { readonly data: readonly AuditRecord[]; readonly next_cursor: string };

type ReadAuditDependencies = { readonly eventStore: Pick<EventStore, 'readAll' | 'readStream' | 'findEvent'> };

/** Reads one page of the events that the reader may see from the event store, newest first. */
export async function readAudit(query: AuditQuery, { eventStore }: ReadAuditDependencies): Promise<AuditPage> {
  const data: AuditRecord[] = [];
  for await (const event of candidates(query, { eventStore })) {
    // Events are in the order of their append. Clocks of processes may differ, so stop only at one day before `from`.
    if (query.from !== undefined && Date.parse(event.recorded_at) < Date.parse(query.from) - DAY_MS) break;
    if (!matches(event, query)) continue;
    data.push(auditRecord(event));
    if (data.length === query.limit) return { data, next_cursor: event.position };
  }
  return { data, next_cursor: '' };
}

/**
 * Reads one event with its data; secrets are masked.
 * @throws `event_not_found`, also for an event that the reader may not see
 */
export async function readAuditEvent(
  { eventId, ...reader }: AuditReader & { readonly eventId: string },
  { eventStore }: ReadAuditDependencies,
): Promise<AuditRecord & { readonly data: JsonObject }> {
  const event = await eventStore.findEvent(eventId);
  if (!event || !isVisibleTo(event, reader)) throw refusal('event_not_found');
  return { ...auditRecord(event), data: withoutSecrets(event) };
}

/**
 * The events that may match, newest first: one stream when the resource is given as `<kind>:<id>`, otherwise all events
 * of the tenant, and those in streams of the installation that may concern it.
 */
function candidates(
  { tenant, resource, type, correlationId, actor, cursor, signal }: AuditQuery,
  { eventStore }: ReadAuditDependencies,
): AsyncIterable<RecordedEvent> {
  const stream = resource === undefined ? undefined : streamOf(tenant, resource);
  const abort = signal === undefined ? {} : { signal };
  if (stream !== undefined) return before(eventStore.readStream(stream, { direction: 'backwards', ...abort }), cursor);
  const actors = actor === undefined ? [undefined] : possibleActorIds(actor);
  const read = (filter: EventFilter) =>
    actors.map((id) =>
      eventStore.readAll({
        direction: 'backwards',
        filter: {
          ...filter,
          ...(correlationId === undefined ? {} : { correlationId }),
          ...(id === undefined ? {} : { actor: id }),
        },
        ...(cursor === undefined ? {} : { after: cursor }),
        ...abort,
      }),
    );
  const own = read({ tenant, ...(type === undefined ? {} : { types: [type] }) });
  // Streams of the installation are streams of the default tenant: its read has them.
  const isOwnOnly = tenant === DEFAULT_TENANT || (type !== undefined && !INSTALLATION_TYPES_OF_A_TENANT.includes(type));
  const categories = [...INSTALLATION_CATEGORIES];
  const types = type === undefined ? INSTALLATION_TYPES_OF_A_TENANT : [type];
  const ofInstallation = isOwnOnly ? [] : read({ tenant: DEFAULT_TENANT, categories, types });
  return mergeEvents([...own, ...ofInstallation], 'backwards');
}

/** The ids that `<kind>:<id>` or a bare id may mean: the id of an external actor may contain a colon. */
function possibleActorIds(text: string): readonly string[] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text] : [text, text.slice(colon + 1)];
}

async function* before(
  events: AsyncIterable<RecordedEvent>,
  cursor: GlobalPosition | undefined,
): AsyncIterable<RecordedEvent> {
  for await (const event of events) if (cursor === undefined || event.position < cursor) yield event;
}

function streamOf(tenant: string, resource: string): string | undefined {
  const category = CATEGORIES.find((kind) => resource.startsWith(`${kind}:`));
  if (category === undefined) return undefined;
  return streamName({
    category,
    tenant: INSTALLATION_CATEGORIES.has(category) ? DEFAULT_TENANT : tenant,
    id: resource.slice(category.length + 1),
  });
}

function matches(event: RecordedEvent, query: AuditQuery): boolean {
  const { metadata } = event;
  const at = Date.parse(metadata.occurred_at);
  return (
    isVisibleTo(event, query) &&
    (query.type === undefined || event.type === query.type) &&
    (query.correlationId === undefined || metadata.$correlationId === query.correlationId) &&
    (query.actor === undefined || isIdentifiedBy(query.actor, metadata.actor.kind, metadata.actor.id)) &&
    (query.resource === undefined ||
      isIdentifiedBy(query.resource, auditRecord(event).resource.kind, auditRecord(event).resource.id)) &&
    (query.from === undefined || at >= Date.parse(query.from)) &&
    (query.to === undefined || at <= Date.parse(query.to))
  );
}

/** Whether the text is this `<kind>:<id>`, or this id. */
function isIdentifiedBy(text: string, kind: string, id: string): boolean {
  return text === id || text === `${kind}:${id}`;
}
