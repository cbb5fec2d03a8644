import type { Json } from '../json.ts';
import type { ContentType } from './content-type.ts';
import { typesSince } from './content-type.ts';
import type { FieldDefinition, FieldType } from './definition.ts';
import type { EntryFact } from './entry.ts';
import type { FieldValues } from './events.ts';

/** Ids of the fields that are gone today and had this field's name when they went. */
export function earlierFields({ definition, fieldNames }: Pick<ContentType, 'definition' | 'fieldNames'>, field: FieldDefinition): ReadonlySet<string> {
  const lastNames = new Map(fieldNames.flatMap(({ names }) => Object.entries(names).map(([name, id]) => [id, name] as const)));
  const there = new Set(definition.fields.map(({ id }) => id));
  return new Set([...lastNames].filter(([id, name]) => name === field.name && !there.has(id)).map(([id]) => id));
}

/** A value, and the types that its field has had from then until it went. */
export type WrittenValue = { readonly value: Json; readonly types: readonly FieldType[] };

/**
 * What an event wrote into any of the fields, as it wrote it. An undeletion brings back only what there was by then, so a field that it does not
 * name keeps what an earlier event wrote. @returns undefined when it wrote none of them
 */
export function writtenValue(type: Pick<ContentType, 'id' | 'fieldNames'>, fieldIds: ReadonlySet<string>, fact: EntryFact): WrittenValue | undefined {
  const fields = fact.data.type_id === type.id ? valuesOf(fact) : undefined;
  const names = type.fieldNames.findLast(({ revision }) => revision <= fact.data.type_revision)?.names ?? {};
  for (const [key, value] of Object.entries(fields ?? {})) {
    const id = ownId(names, key) ?? (key.endsWith('_id') ? ownId(names, key.slice(0, -'_id'.length)) : undefined);
    if (id !== undefined && fieldIds.has(id)) return { value, types: typesSince(type, fact.data.type_revision, id) };
  }
  return undefined;
}

function valuesOf(fact: EntryFact): FieldValues | undefined {
  if (fact.type === 'EntryUndeleted') return fact.data.whole.fields;
  return fact.type === 'EntryCreated' || fact.type === 'EntryFieldsChanged' ? fact.data.fields : undefined;
}

function ownId(names: { readonly [name: string]: string }, key: string): string | undefined {
  return Object.hasOwn(names, key) ? names[key] : undefined;
}
