import type { ContentType } from '../../domain/content/content-type.ts';

/** Queries of slugs in the read model. It may lag behind the log; claims decide whether a slug is free. */
export type EntrySlugs = {
  /**
   * The first number for which the slug with this base is free; 1 means the base itself. Slugs of deleted entries are
   * free.
   */
  freeNumber(type: ContentType, base: string): Promise<number>;
};
