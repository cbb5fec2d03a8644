import type { ContentType } from '../../domain/content/content-type.ts';

export type { ContentType } from '../../domain/content/content-type.ts';

/**
 * The content types in force, cached in memory. The process that saved a type returns the new version once the save is
 * answered. Other processes return it once they have read the event and the read model `content` has applied it.
 */
export type ContentTypeDirectory = {
  /** @returns undefined when no live content type of the tenant has the name, or the name is invalid */
  get(tenant: string, name: string): Promise<ContentType | undefined>;
};
