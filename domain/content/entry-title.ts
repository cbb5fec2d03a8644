import { ownValue } from '../own-value.ts';
import type { ContentTypeDefinition, FieldDefinition } from './definition.ts';
import type { FieldValues } from './entry-events.ts';
import { FIELD_TYPE_SPECS } from './field-types.ts';

/**
 * The slug's name in a set of hidden or locked fields, and in filters. No field can have this name: field names do not
 * begin with `_`.
 */
export const SLUG_KEY = '_slug';

/**
 * The field that holds an entry's title, from which its slug is made: `title`, else `name`, else the first text field.
 */
export function titleField({ fields }: Pick<ContentTypeDefinition, 'fields'>): FieldDefinition | undefined {
  const textual = fields.filter(({ field_type }) => FIELD_TYPE_SPECS[field_type].textual);
  return (
    textual.find(({ name }) => name === 'title') ??
    textual.find(({ name }) => name === 'name') ??
    textual.find(({ field_type }) => field_type === 'text')
  );
}

/**
 * An entry's title.
 * @returns undefined when it is blank, missing or hidden from the caller
 */
export function titleOf(
  definition: Pick<ContentTypeDefinition, 'fields'>,
  fields: FieldValues,
  hidden: ReadonlySet<string>,
): string | undefined {
  const field = titleField(definition);
  const value = field && !hidden.has(field.name) ? ownValue(fields, field.name) : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
