import type { JsonObject } from '../json.ts';
import type { ContentTypeDefinition } from './definition.ts';

/** A definition as the API shows it: all members that a client may send back, without field ids. */
export function presentContentType(definition: ContentTypeDefinition): JsonObject {
  const { name, display_name, fields, transports, ...options } = definition;
  return {
    name,
    display_name: display_name ?? name,
    fields: fields.map(({ id: _id, ...field }) => field),
    with_created_at: options.with_created_at ?? false,
    with_updated_at: options.with_updated_at ?? false,
    with_soft_delete: options.with_soft_delete ?? false,
    with_draft_publish: options.with_draft_publish ?? false,
    ...(transports === undefined ? {} : { transports }),
  };
}
