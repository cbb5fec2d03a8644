import { createContentTypeCatalogue } from '../../application/content/content-type-catalogue.ts';
import { createPastState } from '../../application/content/past-state.ts';
import type { ContentTypeDependencies } from '../../application/content/change-content-type.ts';
import { claimUnclaimed } from '../../application/content/look-again.ts';
import type { AccessRules } from '../../application/ports/access-rules.ts';
import type { Claims } from '../../application/ports/claims.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { EntryRouteDependencies } from '../../api/content/entry-routes.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { contentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { contentTypesById, LIVE } from '../../projections/content/content-types/rows.ts';
import { createSchemaWorkbench } from '../../projections/content/content-types/workbench.ts';
import { refusingWhileChanging } from '../../projections/content/entries/refuse-while-changing.ts';
import { createEntryQueries } from '../../projections/content/entries/entry-queries.ts';
import { createPast } from '../../projections/content/entries/past.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import type { Queryable } from '../postgres/database.ts';
import type { Stores } from './stores.ts';

export type Content = {
  readonly typeDependencies: ContentTypeDependencies & { readonly queries: ContentTypeQueries };
  readonly entryDependencies: EntryRouteDependencies;
  /** A content type by id, also one deleted softly. */
  typeById(id: string): Promise<StoredContentType | undefined>;
  /** Claims values of the type's unique fields that nobody has claimed. */
  claimUnclaimed(id: string): Promise<void>;
  /** Whether entries of the type have a status (draft and publish). */
  hasStatus(tenant: string, typeId: string): Promise<boolean>;
  close(): Promise<void>;
};

export type ContentOptions = {
  readonly stores: Stores;
  /** Where entries are read for answers; a replica behind it. Default: the database. */
  readonly reading?: Queryable | undefined;
  readonly progress: ProjectionProgress;
  readonly claims: Claims;
  readonly accessRules: AccessRules;
  readonly renamed: ContentTypeDependencies['renamed'];
  readonly logger: Logger;
};

/** Puts content types and entries together. */
export function composeContent({ stores, reading = stores.database, progress, claims, accessRules, renamed, logger }: ContentOptions): Content {
  const { database, eventStore } = stores;
  const queries = contentTypeQueries(database);
  const catalogue = createContentTypeCatalogue({ load: (tenant, name) => queries.one(tenant, name), position: () => progress.position('content') });
  const stopping = new AbortController();
  const following = catalogue.follow(eventStore, stopping.signal).catch((error: unknown) => {
    // Without news nothing may be believed for long; the process says so and is started anew by its keeper.
    if (!stopping.signal.aborted) logger.error('content types of other processes are not heard of', { reason: String(error) });
  });
  const live = refusingWhileChanging(database);
  const past = createPast({ database: live, stateAt: createPastState({ eventStore }) });
  const entries = createEntryQueries({ database: refusingWhileChanging({ ...database, ...reading }), primary: live, past });
  const typeById = async (id: string) => (await contentTypesById(database, LIVE, [id])).get(id);
  const workbench = createSchemaWorkbench({ database });
  return {
    typeDependencies: { eventStore, claims, queries, catalogue, workbench, renamed, waitFor: (names, position, ms) => progress.waitFor(names, position, ms) },
    entryDependencies: { eventStore, claims, types: catalogue, accessRules, rows: entries.reads, reads: entries.reads, lists: entries.lists, listRelated: entries.listRelated, past },
    typeById,
    async claimUnclaimed(id) {
      const type = await typeById(id);
      if (!type || type.deleted) return;
      const fields = type.definition.fields.filter(({ unique }) => unique === true);
      await claimUnclaimed({ tenant: type.tenant, typeId: id, name: type.name, fields }, { claims, reader: workbench });
    },
    hasStatus: async (_tenant, typeId) => (await typeById(typeId))?.definition.with_draft_publish === true,
    async close() {
      stopping.abort();
      await following;
    },
  };
}
