import type { ContentType } from '../../domain/content/content-type.ts';

export type { ContentType } from '../../domain/content/content-type.ts';

/**
 * The content types in force, from memory on the hot path. After a save has been answered the saving process sees it at once; other
 * processes as soon as the event has reached them and their read model `content` stands at it.
 */
export type ContentTypeCatalogue = {
  /** @returns undefined for a name that no live content type of the tenant has (also for names outside the grammar). */
  get(tenant: string, name: string): Promise<ContentType | undefined>;
};
