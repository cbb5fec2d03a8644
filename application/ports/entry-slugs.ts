import type { ContentType } from '../../domain/content/content-type.ts';

/** Slugs in the read model; it may be behind, the claims decide. */
export type EntrySlugs = {
  /** The first number under which a slug of this base is free: 1 for the base itself. Deleted entries give theirs free. */
  freeNumber(type: ContentType, base: string): Promise<number>;
};
