import type { EntryState } from '../../domain/content/entry-state.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import type { Message } from '../ports/message-bus.ts';
import { cloudEventHeaders } from './cloud-event.ts';
import { contentChangesTopic } from './topics.ts';

/** What of an entry a content change shows. */
export type ChangedEntry = Pick<EntryState, 'id' | 'schema' | 'fields' | 'status' | 'slug' | 'version' | 'deleted'>;

/** An entry on either side of one of its events; absent where it was not there. */
export type EntryChange = { readonly before?: ChangedEntry | undefined; readonly after?: ChangedEntry | undefined };

/** Field values plus `id`, `status` and `slug` (spec 4 C, content in envelopes). */
export type EntryEnvelope = { readonly [field: string]: Json };

/** Value of a message on `<prefix>.content.changes` (spec 4 D). */
export type ContentChangeValue = {
  /** Consumers drop repeats by it. */
  readonly event_id: string;
  readonly event: 'after_create' | 'after_update' | 'after_delete';
  readonly tenant: string;
  readonly schema: string;
  readonly entry_id: string;
  /** Version of the entry that this change made. */
  readonly version: number;
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The whole entry after the change; null when it was deleted. */
  readonly data: EntryEnvelope | null;
  /** The whole entry before the change; null when it was created. */
  readonly old_data: EntryEnvelope | null;
};

/** Version of the shape of `ContentChangeValue`. */
const SCHEMA_VERSION = 1;

/**
 * Messages of one entry event: the change, and after a deletion a null value, with which the compacted topic forgets the entry.
 * Key is `<tenant>/<entry id>`. Empty when the entry was there neither before nor after.
 */
export function encodeContentChange(event: RecordedEvent, change: EntryChange, prefix: string): readonly Message[] {
  const before = present(change.before);
  const after = present(change.after);
  const shown = after ?? before;
  if (!shown) return [];
  const { tenant, occurred_at: at } = event.metadata;
  const name = !before ? 'after_create' : !after ? 'after_delete' : 'after_update';
  const value: ContentChangeValue = {
    event_id: event.id,
    event: name,
    tenant,
    schema: shown.schema,
    entry_id: shown.id,
    version: event.revision + 1,
    at,
    data: after ? envelope(after) : null,
    old_data: before ? envelope(before) : null,
  };
  const address = {
    topic: contentChangesTopic(prefix),
    key: `${tenant}/${shown.id}`,
    headers: cloudEventHeaders(event, { type: `content.${name}`, schemaVersion: SCHEMA_VERSION }),
  };
  const message = { ...address, value: JSON.stringify(value) };
  return after ? [message] : [message, { ...address, value: null }];
}

function present(entry: ChangedEntry | undefined): ChangedEntry | undefined {
  return entry?.deleted === false ? entry : undefined;
}

function envelope(entry: ChangedEntry): EntryEnvelope {
  return { ...entry.fields, id: entry.id, status: entry.status, ...(entry.slug === undefined ? {} : { slug: entry.slug }) };
}
