import { entryForEnvelope } from '../../domain/automation/trigger.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import type { Message } from '../ports/message-bus.ts';
import { cloudEventHeaders } from './cloud-event.ts';
import { contentChangesTopic } from './topics.ts';

/** The part of an entry's state that content changes are built from. */
export type ChangedEntry = Pick<EntryState, 'id' | 'schema' | 'fields' | 'status' | 'slug' | 'version' | 'deleted'>;

/** An entry before and after one of its events; undefined when the entry did not exist. */
export type PublishedChange = { readonly before?: ChangedEntry | undefined; readonly after?: ChangedEntry | undefined };

/** Field values of an entry, its `id` and `status`, and its `slug` when it has one. */
export type EntryEnvelope = { readonly [field: string]: Json };

/** Value of a message on `<prefix>.content.changes`. */
export type ContentChangeValue = {
  /** Consumers use it to drop duplicates. */
  readonly event_id: string;
  readonly event: 'after_create' | 'after_update' | 'after_delete';
  readonly tenant: string;
  readonly schema: string;
  readonly entry_id: string;
  /** Version of the entry after the change. */
  readonly version: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The entry after the change; null when it was deleted. */
  readonly data: EntryEnvelope | null;
  /** The entry before the change; null when it was created. */
  readonly old_data: EntryEnvelope | null;
};

/** Version of the schema of `ContentChangeValue`. */
const SCHEMA_VERSION = 1;

/** @returns undefined when the entry existed neither before nor after the event */
export function contentChangeOf({
  event,
  change,
}: {
  readonly event: RecordedEvent;
  readonly change: PublishedChange;
}): ContentChangeValue | undefined {
  const before = undeleted(change.before);
  const after = undeleted(change.after);
  const current = after ?? before;
  if (!current) return undefined;
  return {
    event_id: event.id,
    event: !before ? 'after_create' : !after ? 'after_delete' : 'after_update',
    tenant: event.metadata.tenant,
    schema: current.schema,
    entry_id: current.id,
    version: event.revision + 1,
    at: event.metadata.occurred_at,
    data: after ? entryForEnvelope(after, true) : null,
    old_data: before ? entryForEnvelope(before, true) : null,
  };
}

/**
 * Encodes the messages of one entry event: the change and, after a deletion, a null value, so that compaction removes
 * the entry from the topic. The key is `<tenant>/<entry id>`.
 * @returns no messages when the entry existed neither before nor after the event
 */
export function encodeContentChange({
  event,
  change,
  prefix,
}: {
  readonly event: RecordedEvent;
  readonly change: PublishedChange;
  readonly prefix: string;
}): readonly Message[] {
  const value = contentChangeOf({ event, change });
  if (!value) return [];
  const address = {
    topic: contentChangesTopic(prefix),
    key: `${value.tenant}/${value.entry_id}`,
    headers: cloudEventHeaders(event, { type: `content.${value.event}`, schemaVersion: SCHEMA_VERSION }),
  };
  const message = { ...address, value: JSON.stringify(value) };
  return value.data ? [message] : [message, { ...address, value: null }];
}

function undeleted(entry: ChangedEntry | undefined): ChangedEntry | undefined {
  return entry?.deleted === false ? entry : undefined;
}
