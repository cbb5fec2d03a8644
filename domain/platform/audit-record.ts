import type { Actor, GlobalPosition, RecordedEvent } from '../event.ts';
import { IDENTITY_SECRET_FIELDS } from '../identity/secret-fields.ts';
import { type Json, type JsonObject, isJsonObject } from '../json.ts';
import { ownValue } from '../own-value.ts';
import { SECRET_MASK } from '../secret-mask.ts';
import { parseStream } from '../stream.ts';

/** One record of the audit log. It describes an event without its data. */
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

/**
 * For example `EntryFieldsChanged` → "entry fields changed: body, title". It contains names of fields, never their
 * values.
 */
function summaryOf({ type, data }: RecordedEvent): string {
  const words = type.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  const subject =
    typeof data['schema'] === 'string'
      ? ` in ${data['schema']}`
      : typeof data['name'] === 'string'
        ? ` ${data['name']}`
        : '';
  const fields =
    isJsonObject(data['fields']) && type.endsWith('Changed')
      ? `: ${Object.keys(data['fields']).toSorted().join(', ')}`
      : '';
  return `${words}${subject}${fields}`;
}

/**
 * Data of an event with a mask in place of every sealed value and of the digests and hashes in identity events. Sealed
 * personal data is masked, not opened.
 */
export function withoutSecrets({ type, data }: { readonly type: string; readonly data: JsonObject }): JsonObject {
  const secret = ownValue(IDENTITY_SECRET_FIELDS, type) ?? [];
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, secret.includes(key) ? SECRET_MASK : masked(value)]),
  );
}

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  return '$sealed' in value
    ? SECRET_MASK
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member)]));
}
