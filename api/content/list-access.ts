import type { ContentType } from '../../domain/content/content-type.ts';

/** The content type of a list and what the caller may see of its entries: fields that are hidden, deleted entries. */
export type ListAccess = {
  readonly type: ContentType;
  readonly hidden: ReadonlySet<string>;
  readonly seesDeleted?: boolean;
};
