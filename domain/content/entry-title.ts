import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldValues } from './events.ts';
import { FIELD_TYPE_SPECS } from './field-types.ts';

/** Field that an entry is called by: `title`, else `name`, else the first text field (spec 4 A, admin content). */
export function titleField({ fields }: Pick<ContentTypeDefinition, 'fields'>): FieldDefinition | undefined {
  const textual = fields.filter(({ field_type }) => FIELD_TYPE_SPECS[field_type].textual);
  return textual.find(({ name }) => name === 'title') ?? textual.find(({ name }) => name === 'name') ?? textual.find(({ field_type }) => field_type === 'text');
}

/** What an entry is called; undefined where it has no title, or one that the caller does not see. */
export function titleOf(definition: Pick<ContentTypeDefinition, 'fields'>, fields: FieldValues, hidden: ReadonlySet<string>): string | undefined {
  const field = titleField(definition);
  const value = field && !hidden.has(field.name) ? fields[field.name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
