import type { Actor, GlobalPosition, RecordedEvent } from '../event.ts';
import type { Json, JsonObject } from '../json.ts';
import { IDENTITY_SECRET_FIELDS } from '../identity/secret-fields.ts';
import { parseStream } from '../stream.ts';

/** One line of the audit log (spec 4 A, API keys, audit, usage). */
export type AuditRecord = {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: GlobalPosition;
  readonly occurred_at: string;
  readonly actor: Actor;
  readonly tenant_id: string;
  readonly resource: { readonly kind: string; readonly id: string };
  readonly summary: string;
  readonly correlation_id: string;
  readonly causation_id: string;
};

/** An event as the audit log lists it. */
export function auditRecord(event: RecordedEvent): AuditRecord {
  const parts = parseStream(event.stream);
  return {
    id: event.id,
    type: event.type,
    stream: event.stream,
    revision: event.revision,
    position: event.position,
    occurred_at: event.metadata.occurred_at,
    actor: event.metadata.actor,
    tenant_id: event.metadata.tenant,
    resource: { kind: parts?.category ?? 'unknown', id: parts?.id ?? event.stream },
    summary: summaryOf(event),
    correlation_id: event.metadata.$correlationId,
    causation_id: event.metadata.$causationId,
  };
}

/** `EntryFieldsChanged` reads "entry fields changed: body, title"; only names, never values. */
function summaryOf({ type, data }: RecordedEvent): string {
  const words = type.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  const subject = typeof data['schema'] === 'string' ? ` in ${data['schema']}` : typeof data['name'] === 'string' ? ` ${data['name']}` : '';
  const fields = isObject(data['fields']) && type.endsWith('Changed') ? `: ${Object.keys(data['fields']).toSorted().join(', ')}` : '';
  return `${words}${subject}${fields}`;
}

/** What stands in place of a secret. */
const MASK = '********';

/**
 * Data of an event with everything sealed taken out, and what identity's events carry of digests and hashes: secrets never leave, personal
 * data is not opened here.
 */
export function withoutSecrets({ type, data }: { readonly type: string; readonly data: JsonObject }): JsonObject {
  const secret = IDENTITY_SECRET_FIELDS[type] ?? [];
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, secret.includes(key) ? MASK : masked(value)]));
}

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return '$sealed' in value ? MASK : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member)]));
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
