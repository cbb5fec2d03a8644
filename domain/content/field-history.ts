import { ownValue } from '../own-value.ts';
import type { ContentTypeDefinition, FieldDefinition, FieldType } from './definition.ts';

/** The names (name → field id) and types (field id → type) of the fields, from one revision of the content type on. */
export type FieldNames = {
  readonly revision: number;
  readonly names: { readonly [name: string]: string };
  readonly types: { readonly [id: string]: FieldType };
};

/**
 * The current field for the name that it had at a revision of the content type.
 * @returns undefined when the field is removed or never existed
 */
export function fieldAt(
  type: { readonly definition: ContentTypeDefinition; readonly fieldNames: readonly FieldNames[] },
  revision: number,
  name: string,
): FieldDefinition | undefined {
  const names = type.fieldNames.findLast((entry) => entry.revision <= revision)?.names;
  const id = names && ownValue(names, name);
  return id === undefined ? undefined : type.definition.fields.find((field) => field.id === id);
}

/**
 * The types that a field has had since a revision of the content type, in order, beginning with that revision's.
 * Neighbours differ. Empty when the field did not exist.
 */
export function typesSince(
  { fieldNames }: { readonly fieldNames: readonly FieldNames[] },
  revision: number,
  fieldId: string,
): readonly FieldType[] {
  const from = fieldNames.findLastIndex((entry) => entry.revision <= revision);
  const types = fieldNames.slice(Math.max(from, 0)).flatMap((entry) => ownValue(entry.types, fieldId) ?? []);
  return types.filter((type, index) => type !== types[index - 1]);
}

/** Adds the names and types of a revision, unless they are the same as those of the revision before. */
export function fieldNamesAfter(
  earlierNames: readonly FieldNames[],
  revision: number,
  fields: readonly FieldDefinition[],
): readonly FieldNames[] {
  const last = earlierNames.at(-1);
  const same =
    last &&
    Object.keys(last.names).length === fields.length &&
    fields.every(
      ({ id, name, field_type }) => ownValue(last.names, name) === id && ownValue(last.types, id) === field_type,
    );
  if (same) return earlierNames;
  return [
    ...earlierNames,
    {
      revision,
      names: Object.fromEntries(fields.map(({ name, id }) => [name, id])),
      types: Object.fromEntries(fields.map(({ id, field_type }) => [id, field_type])),
    },
  ];
}
