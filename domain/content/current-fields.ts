import type { Json } from '../json.ts';
import type { ContentType } from './content-type.ts';
import { convertThrough } from './convert-value.ts';
import type { AttributedEntryEvent, FieldValues } from './entry-events.ts';
import { keyOf } from './entry-fields.ts';
import { fieldAt, typesSince } from './field-history.ts';

/**
 * Gives the field values of an event their current names and types. Values are converted through every type change in
 * between, exactly as the column was. Values of removed fields are left out; a value that a type could not hold becomes
 * null.
 * @param revision Revision of the content type that the event was written under.
 */
function currentFields(type: ContentType, revision: number, fields: FieldValues): FieldValues {
  // Most events were written under the current revision.
  if (revision === type.revision) return fields;
  const current: [string, Json][] = [];
  for (const [key, value] of Object.entries(fields)) {
    const field =
      fieldAt(type, revision, key) ??
      (key.endsWith('_id') ? fieldAt(type, revision, key.slice(0, -'_id'.length)) : undefined);
    if (!field) continue;
    current.push([keyOf(field), convertThrough(field, value, typesSince(type, revision, field.id))]);
  }
  return Object.fromEntries(current);
}

/** An event as if it had been written under the current revision of the content type. */
export function eventWithCurrentFields(type: ContentType, event: AttributedEntryEvent): AttributedEntryEvent {
  const revision = event.data.type_revision;
  if (revision === type.revision) return event;
  switch (event.type) {
    case 'EntryCreated': {
      const fields = currentFields(type, revision, event.data.fields);
      return { ...event, data: { ...event.data, schema: type.name, fields } };
    }
    case 'EntryFieldsChanged': {
      const fields = currentFields(type, revision, event.data.fields);
      return { ...event, data: { ...event.data, schema: type.name, fields } };
    }
    case 'EntryUndeleted': {
      const whole = { ...event.data.whole, fields: currentFields(type, revision, event.data.whole.fields) };
      return { ...event, data: { ...event.data, schema: type.name, whole } };
    }
    default:
      return { ...event, data: { ...event.data, schema: type.name } };
  }
}
