import type { AdminContentRouteDependencies } from '../../../api/admin/content/admin-access.ts';
import { createCommentQueries } from '../../../projections/content/comments/queries.ts';
import { LIVE, readContentTypes } from '../../../projections/content/content-types/rows.ts';
import { createAdminEntryList } from '../../../projections/content/entries/admin-entry-list.ts';
import { createSlugQueries } from '../../../projections/content/entries/slug-queries.ts';
import type { OpenReplica } from '../platform/open-replica.ts';
import type { Platform } from '../platform/platform.ts';
import type { OpenContent } from './open-content.ts';

export type AdminContentPlatform = Pick<Platform, 'database' | 'entitlements'> & {
  readonly replica: Pick<OpenReplica, 'queryable'> | undefined;
};

export type AdminContentNeeds = Pick<OpenContent, 'typeById' | 'entryDependencies'>;

/** What the entry routes of the Admin API depend on. Lists are read from the replica when there is one. */
export function createAdminContentDependencies(
  { database, replica, entitlements }: AdminContentPlatform,
  { typeById, entryDependencies }: AdminContentNeeds,
): AdminContentRouteDependencies {
  return {
    ...entryDependencies,
    entitlements,
    typeById,
    typesOf: (tenant) => readContentTypes(database, LIVE, { tenant }),
    comments: createCommentQueries({ database }),
    slugs: createSlugQueries({ database }),
    listAdminEntries: createAdminEntryList({
      database: replica?.queryable ?? database,
      maxBytes: entryDependencies.maxResponseBytes,
    }),
  };
}
