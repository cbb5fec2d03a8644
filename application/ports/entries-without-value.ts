import type { ContentType } from '../../domain/content/content-type.ts';
import type { StoredField } from '../../domain/content/entry-fields.ts';

/** Queries of entries that are not deleted and have no value in a field, from the read model. */
export type EntriesWithoutValue = {
  /** At most `limit` ids greater than `after`, in ascending order. */
  page(
    type: ContentType,
    field: StoredField,
    options: { readonly after: string | undefined; readonly limit: number },
  ): Promise<readonly string[]>;
};
