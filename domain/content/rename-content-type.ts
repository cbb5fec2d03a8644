import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';

/** A definition under another name: relations to itself follow, and a display name that was the name. */
export function renameDefinition(definition: ContentTypeDefinition, to: string): ContentTypeDefinition {
  const { name, display_name: shown } = definition;
  return { ...definition, name: to, ...(shown === name ? { display_name: to } : {}), fields: retarget(definition.fields, { from: name, to }) };
}

/** Fields whose relations to a renamed content type name it as it is called now. The same list where none does. */
export function retarget(fields: readonly FieldDefinition[], { from, to }: { readonly from: string; readonly to: string }): readonly FieldDefinition[] {
  if (!fields.some((field) => field.relation_to === from)) return fields;
  return fields.map((field) => (field.relation_to === from ? { ...field, relation_to: to } : field));
}
