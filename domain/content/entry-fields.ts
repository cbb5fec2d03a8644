import type { Json } from '../json.ts';
import { ownValue } from '../own-value.ts';
import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldValues } from './entry-events.ts';
import { emptyValue, isManyToMany, isStored } from './field-types.ts';

/** A field whose value the entry itself stores. */
export type StoredField = {
  /** Name in events, responses and filters, and of the column: the field's name, for a belongs_to `<field>_id`. */
  readonly key: string;
  readonly definition: FieldDefinition;
};

const cache = new WeakMap<ContentTypeDefinition, readonly StoredField[]>();

/** The fields that entries store, in the definition's order. A has_one or has_many is stored on the other side. */
export function storedFields(definition: ContentTypeDefinition): readonly StoredField[] {
  const cached = cache.get(definition);
  if (cached) return cached;
  const stored = definition.fields.filter(isStored).map((field) => ({ key: keyOf(field), definition: field }));
  cache.set(definition, stored);
  return stored;
}

/** The field's value as responses show it. */
export function shownValue({ key, definition }: StoredField, fields: FieldValues): Json {
  return ownValue(fields, key) ?? emptyValue(definition);
}

/** The name under which an entry stores the field's value. */
export function keyOf(field: FieldDefinition): string {
  return field.field_type === 'relation' && !isManyToMany(field) ? `${field.name}_id` : field.name;
}
