import type { EntryState } from '../content/entry-state.ts';
import type { RecordedEvent } from '../event.ts';
import { type JsonObject, isJsonObject } from '../json.ts';
import { ownValue } from '../own-value.ts';

/** Content events that webhooks can subscribe to. */
export const TRIGGER_EVENTS = ['after_create', 'after_update', 'after_delete'] as const;
export type TriggerEvent = (typeof TRIGGER_EVENTS)[number];

/** Value of `schema` for changes of content types; for entries it is the name of their content type. */
const SYS_SCHEMAS = 'sys_schemas';

/** How webhooks see an event of the log. It is derived from the event alone. */
export type Trigger = {
  readonly event: TriggerEvent;
  readonly schema: string;
  readonly kind: 'entry' | 'content_type';
};

const TRIGGER_OF_ENTRY_EVENT: Readonly<Record<string, TriggerEvent>> = {
  EntryCreated: 'after_create',
  EntryFieldsChanged: 'after_update',
  EntryPublished: 'after_update',
  EntryUnpublished: 'after_update',
  EntryArchived: 'after_update',
  EntryUnarchived: 'after_update',
  EntryDeleted: 'after_delete',
  EntryUndeleted: 'after_create',
};

/** The trigger of an event. @returns undefined for an event that triggers no webhook */
export function triggerOf(event: RecordedEvent): Trigger | undefined {
  const ofEntry = ownValue(TRIGGER_OF_ENTRY_EVENT, event.type);
  if (ofEntry !== undefined) {
    const { schema } = event.data;
    return typeof schema === 'string' ? { event: ofEntry, schema, kind: 'entry' } : undefined;
  }
  if (
    event.type === 'ContentTypeSaved' ||
    event.type === 'ContentTypeRenamed' ||
    event.type === 'ContentTypeFieldRenamed'
  )
    return { event: 'after_create', schema: SYS_SCHEMAS, kind: 'content_type' };
  if (event.type === 'ContentTypeDeleted') return { event: 'after_delete', schema: SYS_SCHEMAS, kind: 'content_type' };
  return undefined;
}

/** Settings of a webhook that decide whether it fires. */
export type Subscription = {
  readonly enabled: boolean;
  readonly events: readonly TriggerEvent[];
  readonly schemas: readonly string[];
};

/** Whether a webhook fires for a trigger. Changes of content types fire only webhooks whose `schemas` is empty. */
export function fires(subscription: Subscription, trigger: Trigger): boolean {
  if (!subscription.enabled || !subscription.events.includes(trigger.event)) return false;
  const { schemas } = subscription;
  return schemas.length === 0 || (trigger.kind === 'entry' && schemas.includes(trigger.schema));
}

/**
 * An entry in envelopes: its field values, `id`, `status` when the content type has one, and `slug` when the entry has
 * one.
 */
export function entryForEnvelope(
  entry: Pick<EntryState, 'id' | 'fields' | 'status' | 'slug'>,
  hasStatus: boolean,
): JsonObject {
  return {
    ...entry.fields,
    id: entry.id,
    ...(hasStatus ? { status: entry.status } : {}),
    ...(entry.slug === undefined ? {} : { slug: entry.slug }),
  };
}

/** `data` of a content type change: the name, and `created`, `updated` or `deleted`. */
export function contentTypeForEnvelope(event: RecordedEvent): JsonObject {
  if (event.type === 'ContentTypeDeleted') return { name: event.data['name'] ?? null, action: 'deleted' };
  const definition = event.data['definition'];
  return {
    name: isJsonObject(definition) ? (definition['name'] ?? null) : null,
    action: event.revision === 0 ? 'created' : 'updated',
  };
}
