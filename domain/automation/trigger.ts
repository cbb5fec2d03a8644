import type { EntryState } from '../content/entry-state.ts';
import type { RecordedEvent } from '../event.ts';
import type { Json, JsonObject } from '../json.ts';

/** Content events that send a delivery (spec 3, events). */
export const TRIGGER_EVENTS = ['after_create', 'after_update', 'after_delete'] as const;
export type TriggerEvent = (typeof TRIGGER_EVENTS)[number];

/** Stands for content type changes where an entry's content type would stand. */
export const SYS_SCHEMAS = 'sys_schemas';

/** What an event of the log is to webhooks, before anything is read for it. */
export type Trigger = { readonly event: TriggerEvent; readonly schema: string; readonly kind: 'entry' | 'content_type' };

const OF_ENTRY: Readonly<Record<string, TriggerEvent>> = {
  EntryCreated: 'after_create',
  EntryFieldsChanged: 'after_update',
  EntryPublished: 'after_update',
  EntryUnpublished: 'after_update',
  EntryArchived: 'after_update',
  EntryUnarchived: 'after_update',
  EntryDeleted: 'after_delete',
  EntryUndeleted: 'after_create',
};

/** @returns undefined for an event that no webhook hears of */
export function triggerOf(event: RecordedEvent): Trigger | undefined {
  const ofEntry = OF_ENTRY[event.type];
  if (ofEntry !== undefined) {
    const { schema } = event.data;
    return typeof schema === 'string' ? { event: ofEntry, schema, kind: 'entry' } : undefined;
  }
  if (event.type === 'ContentTypeSaved' || event.type === 'ContentTypeRenamed' || event.type === 'ContentTypeFieldRenamed') return { event: 'after_create', schema: SYS_SCHEMAS, kind: 'content_type' };
  if (event.type === 'ContentTypeDeleted') return { event: 'after_delete', schema: SYS_SCHEMAS, kind: 'content_type' };
  return undefined;
}

/** What decides whether a webhook fires. */
export type Listener = { readonly enabled: boolean; readonly events: readonly TriggerEvent[]; readonly schemas: readonly string[] };

/** Content type changes reach only webhooks that name no content type (spec 3, webhook `schemas`). */
export function fires(listener: Listener, trigger: Trigger): boolean {
  if (!listener.enabled || !listener.events.includes(trigger.event)) return false;
  return listener.schemas.length === 0 || (trigger.kind === 'entry' && listener.schemas.includes(trigger.schema));
}

/** An entry as envelopes show it: field values plus `id`, and `status`, `slug` where the type has them (spec 4 C). */
export function presentEntry(entry: EntryState, hasStatus: boolean): JsonObject {
  return {
    ...entry.fields,
    id: entry.id,
    ...(hasStatus ? { status: entry.status } : {}),
    ...(entry.slug === undefined ? {} : { slug: entry.slug }),
  };
}

/** `data` of a content type change: the name and what became of it. */
export function presentContentType(event: RecordedEvent): JsonObject {
  if (event.type === 'ContentTypeDeleted') return { name: event.data['name'] ?? null, action: 'deleted' };
  const definition = event.data['definition'];
  return { name: isObject(definition) ? (definition['name'] ?? null) : null, action: event.revision === 0 ? 'created' : 'updated' };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
