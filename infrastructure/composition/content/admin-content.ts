import type { AdminContentDependencies } from '../../../api/admin/content/admin-access.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import { createCommentQueries } from '../../../projections/content/comments/queries.ts';
import { LIVE, readContentTypes } from '../../../projections/content/content-types/rows.ts';
import { createAdminEntryList } from '../../../projections/content/entries/list-admin-entries.ts';
import { createSlugQueries } from '../../../projections/content/entries/slug-queries.ts';
import type { Database, Queryable } from '../../postgres/database.ts';
import type { OpenContent } from './open-content.ts';

/** Dependencies of the entry routes of the Admin API. `reading`: where lists are read; default: `database`. */
export function adminContentDependencies({
  database,
  reading = database,
  content,
  entitlements,
}: {
  readonly database: Database;
  readonly reading?: Queryable | undefined;
  readonly content: Pick<OpenContent, 'typeById' | 'entryDependencies'>;
  readonly entitlements: Entitlements;
}): AdminContentDependencies {
  return {
    ...content.entryDependencies,
    entitlements,
    typeById: (id) => content.typeById(id),
    typesOf: (tenant) => readContentTypes(database, LIVE, { tenant }),
    comments: createCommentQueries({ database }),
    slugs: createSlugQueries({ database }),
    listAdminEntries: createAdminEntryList({ database: reading }),
  };
}
