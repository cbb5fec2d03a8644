import type { ContentType } from '../../../domain/content/content-type.ts';
import { factOfToday } from '../../../domain/content/todays-fields.ts';
import type { EntryFact } from '../../../domain/content/entry.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Json } from '../../../domain/json.ts';

/** Values by column; what a row lacks keeps its value. */
export type ColumnValues = { [column: string]: Json };

/**
 * What the events of one entry in a batch come to: a whole new row, columns of a row that is there, or no row. No event's meaning depends on values of
 * the row, so nothing has to be read first. `base` is the version that the row must have before.
 */
export type EntryWrite =
  | { readonly kind: 'insert'; readonly values: ColumnValues; readonly version: number; readonly replaces?: boolean }
  | { readonly kind: 'patch'; readonly values: ColumnValues; readonly base: number; readonly version: number }
  | { readonly kind: 'delete'; readonly version: number }
  /** Created and gone in one batch. */
  | { readonly kind: 'nothing'; readonly version: number };

/** The write after one more event; it takes over the write before (spec 5, rule 6). */
export function foldWrite(write: EntryWrite | undefined, event: EntryFact, type: ContentType, { revision, position }: Pick<RecordedEvent, 'revision' | 'position'>): EntryWrite {
  const version = revision + 1;
  const fact = factOfToday(type, event);
  const by = actorOf(fact);
  const changed: ColumnValues = { _version: version, _updated_at: fact.at, _updated_by: by, _position: position };
  switch (fact.type) {
    case 'EntryCreated': {
      const values = Object.assign(known(type, fact.data.fields), changed, {
        id: fact.entryId,
        tenant_id: type.tenant,
        _status: fact.data.status,
        _slug: fact.data.slug ?? null,
        _created_at: fact.at,
        _created_by: by,
        _published_at: fact.data.status === 'published' ? fact.at : null,
        _deleted_at: null,
      });
      return { kind: 'insert', values, version };
    }
    case 'EntryFieldsChanged':
      if (fact.data.slug !== undefined) changed['_slug'] = fact.data.slug;
      return onto(write, Object.assign(known(type, fact.data.fields), changed), revision);
    case 'EntryPublished':
      return onto(write, { ...changed, _status: 'published', _published_at: fact.at }, revision);
    case 'EntryUnpublished':
      return onto(write, { ...changed, _status: 'draft', _published_at: null }, revision);
    case 'EntryArchived':
      return onto(write, { ...changed, _status: 'archived', _published_at: null }, revision);
    case 'EntryUnarchived':
      return onto(write, { ...changed, _status: 'draft' }, revision);
    case 'EntryDeleted':
      if (fact.data.soft === true) return onto(write, { ...changed, _deleted_at: fact.at }, revision);
      return { kind: write?.kind === 'insert' || write?.kind === 'nothing' ? 'nothing' : 'delete', version };
    case 'EntryUndeleted': {
      const { whole } = fact.data;
      const values: ColumnValues = {
        ...known(type, whole.fields),
        ...changed,
        id: fact.entryId,
        tenant_id: type.tenant,
        _status: whole.status,
        _slug: whole.slug ?? null,
        _created_at: whole.created_at,
        _created_by: { kind: whole.created_by.kind, id: whole.created_by.id },
        _published_at: whole.published_at ?? null,
        _deleted_at: null,
      };
      // The row may still be there: the deletion was a soft one, or stands in the same batch.
      return { kind: 'insert', values, version, replaces: true };
    }
  }
}

function onto(write: EntryWrite | undefined, values: ColumnValues, revision: number): EntryWrite {
  const version = revision + 1;
  if (!write) return { kind: 'patch', values, base: revision, version };
  if (write.kind === 'delete' || write.kind === 'nothing') return { ...write, version };
  // Not copied: of all that a replay does in this process, that took longest.
  Object.assign(write.values, values);
  return { ...write, version };
}

function known(type: ContentType, fields: { readonly [key: string]: Json }): ColumnValues {
  const values: ColumnValues = {};
  for (const { key } of storedFields(type.definition)) if (Object.hasOwn(fields, key)) values[key] = fields[key] ?? null;
  return values;
}

function actorOf({ actor }: EntryFact): Json {
  return { kind: actor.kind, id: actor.id };
}
