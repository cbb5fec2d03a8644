import type { ContentType } from '../../../domain/content/content-type.ts';
import { eventWithCurrentFields } from '../../../domain/content/current-fields.ts';
import type { AttributedEntryEvent } from '../../../domain/content/entry-events.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Json } from '../../../domain/json.ts';
import { ownValue } from '../../../domain/own-value.ts';

/** Values by column name. A column that is missing keeps the value of its row. */
export type ColumnValues = { [column: string]: Json };

/**
 * The combined effect of one entry's events in a batch: a new row, changed columns of an existing row, or no row. The
 * effect of an event does not depend on the values of the row, so no row is read first. `base` is the version that the
 * existing row must have; `replaces` says that a row with the id may exist and is deleted first.
 */
export type EntryWrite =
  | { readonly kind: 'insert'; readonly values: ColumnValues; readonly version: number; readonly replaces?: boolean }
  | { readonly kind: 'patch'; readonly values: ColumnValues; readonly base: number; readonly version: number }
  | { readonly kind: 'delete'; readonly version: number }
  /** Created and deleted in one batch. */
  | { readonly kind: 'nothing'; readonly version: number };

/** The write after one more event. It may modify and return the previous write. */
export function foldWrite(
  write: EntryWrite | undefined,
  event: AttributedEntryEvent,
  {
    type,
    recorded: { revision, position },
  }: { readonly type: ContentType; readonly recorded: Pick<RecordedEvent, 'revision' | 'position'> },
): EntryWrite {
  const version = revision + 1;
  const current = eventWithCurrentFields(type, event);
  const by = actorOf(current);
  const changed: ColumnValues = { _version: version, _updated_at: current.at, _updated_by: by, _position: position };
  switch (current.type) {
    case 'EntryCreated': {
      const values = Object.assign(storedValues(type, current.data.fields), changed, {
        id: current.entryId,
        tenant_id: type.tenant,
        _status: current.data.status,
        _slug: current.data.slug ?? null,
        _created_at: current.at,
        _created_by: by,
        _published_at: current.data.status === 'published' ? current.at : null,
        _deleted_at: null,
      });
      return { kind: 'insert', values, version };
    }
    case 'EntryFieldsChanged':
      if (current.data.slug !== undefined) changed['_slug'] = current.data.slug;
      return merge(write, Object.assign(storedValues(type, current.data.fields), changed), revision);
    case 'EntryPublished':
      return merge(write, { ...changed, _status: 'published', _published_at: current.at }, revision);
    case 'EntryUnpublished':
      return merge(write, { ...changed, _status: 'draft', _published_at: null }, revision);
    case 'EntryArchived':
      return merge(write, { ...changed, _status: 'archived', _published_at: null }, revision);
    case 'EntryUnarchived':
      return merge(write, { ...changed, _status: 'draft' }, revision);
    case 'EntryDeleted':
      if (current.data.soft === true) return merge(write, { ...changed, _deleted_at: current.at }, revision);
      return { kind: write?.kind === 'insert' || write?.kind === 'nothing' ? 'nothing' : 'delete', version };
    case 'EntryUndeleted': {
      const { whole } = current.data;
      const values: ColumnValues = {
        ...storedValues(type, whole.fields),
        ...changed,
        id: current.entryId,
        tenant_id: type.tenant,
        _status: whole.status,
        _slug: whole.slug ?? null,
        _created_at: whole.created_at,
        _created_by: { kind: whole.created_by.kind, id: whole.created_by.id },
        _published_at: whole.published_at ?? null,
        _deleted_at: null,
      };
      // The row may exist: the deletion was soft, or is in the same batch.
      return { kind: 'insert', values, version, replaces: true };
    }
  }
}

function merge(write: EntryWrite | undefined, values: ColumnValues, revision: number): EntryWrite {
  const version = revision + 1;
  if (!write) return { kind: 'patch', values, base: revision, version };
  if (write.kind === 'delete' || write.kind === 'nothing') return { ...write, version };
  // Modifies the write in place: copying it was the most expensive step of a replay in this process.
  Object.assign(write.values, values);
  return { ...write, version };
}

function storedValues(type: ContentType, fields: { readonly [key: string]: Json }): ColumnValues {
  const values: ColumnValues = {};
  for (const { key } of storedFields(type.definition)) {
    const value = ownValue(fields, key);
    if (value !== undefined) values[key] = value;
  }
  return values;
}

function actorOf({ actor }: AttributedEntryEvent): Json {
  return { kind: actor.kind, id: actor.id };
}
