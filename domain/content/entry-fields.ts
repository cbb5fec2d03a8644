import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldValues } from './events.ts';
import { emptyValue, isManyToMany, isStored } from './field-types.ts';
import type { Json } from '../json.ts';

/** A field whose value an entry itself holds. */
export type StoredField = {
  /** Name in events, answers, filters and as a column: the field's name, for belongs_to `<field>_id`. */
  readonly key: string;
  readonly definition: FieldDefinition;
};

const cache = new WeakMap<ContentTypeDefinition, readonly StoredField[]>();

/** Fields with a value of their own, in the definition's order. The other sides of relations hold none. */
export function storedFields(definition: ContentTypeDefinition): readonly StoredField[] {
  const known = cache.get(definition);
  if (known) return known;
  const stored = definition.fields.filter(isStored).map((field) => ({ key: keyOf(field), definition: field }));
  cache.set(definition, stored);
  return stored;
}

/** The field's value as an entry with these values shows it. */
export function shownValue({ key, definition }: StoredField, fields: FieldValues): Json {
  return fields[key] ?? emptyValue(definition);
}

/** Name under which an entry holds the field's value. */
export function keyOf(field: FieldDefinition): string {
  return field.field_type === 'relation' && !isManyToMany(field) ? `${field.name}_id` : field.name;
}
