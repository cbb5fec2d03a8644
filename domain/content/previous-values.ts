import type { Json } from '../json.ts';
import { ownValue } from '../own-value.ts';
import type { ContentType } from './content-type.ts';
import type { FieldDefinition, FieldType } from './definition.ts';
import type { AttributedEntryEvent, FieldValues } from './entry-events.ts';
import { typesSince } from './field-history.ts';

/** Ids of the removed fields that had this field's name when they were removed. */
export function removedFieldIds(
  { definition, fieldNames }: Pick<ContentType, 'definition' | 'fieldNames'>,
  field: FieldDefinition,
): ReadonlySet<string> {
  const lastNames = new Map(
    fieldNames.flatMap(({ names }) => Object.entries(names).map(([name, id]) => [id, name] as const)),
  );
  const current = new Set(definition.fields.map(({ id }) => id));
  return new Set([...lastNames].filter(([id, name]) => name === field.name && !current.has(id)).map(([id]) => id));
}

/** A value, and the types that its field had from the time of the event until the field was removed. */
export type WrittenValue = { readonly value: Json; readonly types: readonly FieldType[] };

/**
 * The value that an event wrote into one of the fields. An undeletion writes only the fields that existed then; for the
 * others, look at earlier events.
 * @returns undefined when the event wrote none of the fields
 */
export function writtenValue(
  type: Pick<ContentType, 'id' | 'fieldNames'>,
  fieldIds: ReadonlySet<string>,
  event: AttributedEntryEvent,
): WrittenValue | undefined {
  const fields = event.data.type_id === type.id ? valuesOf(event) : undefined;
  const names = type.fieldNames.findLast(({ revision }) => revision <= event.data.type_revision)?.names ?? {};
  for (const [key, value] of Object.entries(fields ?? {})) {
    const id = ownId(names, key) ?? (key.endsWith('_id') ? ownId(names, key.slice(0, -'_id'.length)) : undefined);
    if (id !== undefined && fieldIds.has(id)) return { value, types: typesSince(type, event.data.type_revision, id) };
  }
  return undefined;
}

function valuesOf(event: AttributedEntryEvent): FieldValues | undefined {
  if (event.type === 'EntryUndeleted') return event.data.whole.fields;
  return event.type === 'EntryCreated' || event.type === 'EntryFieldsChanged' ? event.data.fields : undefined;
}

function ownId(names: { readonly [name: string]: string }, key: string): string | undefined {
  return ownValue(names, key);
}
