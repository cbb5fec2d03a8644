import type { ContentType } from '../../domain/content/content-type.ts';
import type { StoredField } from '../../domain/content/entry-fields.ts';

/** Living entries of a type that have no value in a field, as the read model knows it. */
export type EntriesWithoutValue = {
  /** Ids in their order, after `after`, at most `limit`. */
  page(type: ContentType, field: StoredField, options: { readonly after: string | undefined; readonly limit: number }): Promise<readonly string[]>;
};
