import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';

/**
 * A definition with a new name. Relations of the type to itself are changed too, and so is a display name that equals
 * the old name.
 */
export function renameDefinition(definition: ContentTypeDefinition, to: string): ContentTypeDefinition {
  const { name, display_name: shown } = definition;
  return {
    ...definition,
    name: to,
    ...(shown === name ? { display_name: to } : {}),
    fields: retargetRelations(definition.fields, { from: name, to }),
  };
}

/**
 * Changes the relations to a renamed content type.
 * @returns the same list when no field relates to it
 */
export function retargetRelations(
  fields: readonly FieldDefinition[],
  { from, to }: { readonly from: string; readonly to: string },
): readonly FieldDefinition[] {
  if (!fields.some((field) => field.relation_to === from)) return fields;
  return fields.map((field) => (field.relation_to === from ? { ...field, relation_to: to } : field));
}
