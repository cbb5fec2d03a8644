import type { ContentType } from './content-type.ts';
import { fieldAt, typesSince } from './content-type.ts';
import { convertThrough } from './convert-value.ts';
import type { EntryFact } from './entry.ts';
import { keyOf } from './entry-fields.ts';
import type { FieldValues } from './events.ts';
import type { Json } from '../json.ts';

/**
 * Values of an event under today's names, in today's types, as the changes of type in between have left them in the column: fields that are gone
 * are left out, a value that a type could not hold is null.
 * `revision` is the type's revision that the event was written under.
 */
export function todaysFields(type: ContentType, revision: number, fields: FieldValues): FieldValues {
  // The usual case by far; nothing can have changed.
  if (revision === type.revision) return fields;
  const today: [string, Json][] = [];
  for (const [key, value] of Object.entries(fields)) {
    const field = fieldAt(type, revision, key) ?? (key.endsWith('_id') ? fieldAt(type, revision, key.slice(0, -'_id'.length)) : undefined);
    if (!field) continue;
    today.push([keyOf(field), convertThrough(field, value, typesSince(type, revision, field.id))]);
  }
  return Object.fromEntries(today);
}

/** An event as if it had been written today. */
export function factOfToday(type: ContentType, fact: EntryFact): EntryFact {
  if (fact.data.type_revision === type.revision) return fact;
  switch (fact.type) {
    case 'EntryCreated':
      return { ...fact, data: { ...fact.data, schema: type.name, fields: todaysFields(type, fact.data.type_revision, fact.data.fields) } };
    case 'EntryFieldsChanged':
      return { ...fact, data: { ...fact.data, schema: type.name, fields: todaysFields(type, fact.data.type_revision, fact.data.fields) } };
    case 'EntryUndeleted': {
      const { whole } = fact.data;
      return { ...fact, data: { ...fact.data, schema: type.name, whole: { ...whole, fields: todaysFields(type, fact.data.type_revision, whole.fields) } } };
    }
    default:
      return { ...fact, data: { ...fact.data, schema: type.name } };
  }
}
