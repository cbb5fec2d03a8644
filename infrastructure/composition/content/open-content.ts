import type { EntryRouteDependencies } from '../../../api/content/entry-routes.ts';
import { claimMissingValues } from '../../../application/content/backfill-unique-claims.ts';
import type { ContentTypeDependencies } from '../../../application/content/content-type-dependencies.ts';
import { createContentTypeDirectory } from '../../../application/content/content-type-directory.ts';
import { createPastState } from '../../../application/content/past-state.ts';
import { reasonOf } from '../../../application/ports/transient-errors.ts';
import type { StoredContentType } from '../../../domain/content/content-type.ts';
import {
  type ContentTypeQueries,
  createContentTypeQueries,
} from '../../../projections/content/content-types/queries.ts';
import { LIVE, contentTypesById } from '../../../projections/content/content-types/rows.ts';
import { schemaRenderer } from '../../../projections/content/content-types/schema-renderer.ts';
import { createSchemaSessions } from '../../../projections/content/content-types/schema-sessions.ts';
import { createEntryQueries } from '../../../projections/content/entries/entry-queries.ts';
import { createPastReader } from '../../../projections/content/entries/past-reader.ts';
import { withStaleStatementRefusal } from '../../../projections/content/entries/with-stale-statement-refusal.ts';
import type { IdentityModule } from '../compose-identity.ts';
import type { Platform } from '../platform/platform.ts';

export type OpenContent = {
  readonly typeDependencies: ContentTypeDependencies & { readonly queries: ContentTypeQueries };
  readonly entryDependencies: EntryRouteDependencies;
  /** A content type by id, including one that is softly deleted. */
  readonly typeById: (id: string) => Promise<StoredContentType | undefined>;
  /** Claims the values of the unique fields of a content type that no stream has claimed. */
  readonly backfillClaims: (id: string) => Promise<void>;
  close(): Promise<void>;
};

export type OpenContentNeeds = Pick<IdentityModule, 'accessRules' | 'renameInAccess'>;

/**
 * Opens content types and entries; entries are read from the replica when there is one. `close` stops following changes
 * of content types.
 */
export function openContent(platform: Platform, { accessRules, renameInAccess }: OpenContentNeeds): OpenContent {
  const { database, eventStore, progress, claims, replica, settings, metrics, logger, vault } = platform;
  const { maxResponseBytes } = settings;
  const queries = createContentTypeQueries({ database });
  const { types, close } = followContentTypes(queries, platform);
  const primary = withStaleStatementRefusal(database);
  const past = createPastReader({ database: primary, stateAt: createPastState({ eventStore }) });
  const entries = createEntryQueries({
    database: withStaleStatementRefusal({ ...database, ...replica?.queryable }),
    primary,
    past,
    maxResponseBytes,
  });
  const schemaSessions = createSchemaSessions({ database });
  const typeById = async (id: string) => (await contentTypesById(database, LIVE, [id])).get(id);
  return {
    typeDependencies: {
      eventStore,
      claims,
      queries,
      types,
      schemaSessions,
      renderer: schemaRenderer,
      renameInAccess,
      progress,
    },
    entryDependencies: {
      eventStore,
      claims,
      progress,
      compensated({ stream, reason, isTakenBack }) {
        metrics.compensated?.(isTakenBack);
        logger.error(isTakenBack ? 'a write was taken back' : 'a write could not be taken back', { stream, reason });
      },
      types,
      accessRules,
      reads: entries.reads,
      entryRows: entries.reads,
      lists: entries.lists,
      listRelated: entries.listRelated,
      past,
      signCursor: (text) => vault.digest('cursors', text),
      maxResponseBytes,
    },
    typeById,
    async backfillClaims(id) {
      const type = await typeById(id);
      if (!type || type.deleted) return;
      const fields = type.definition.fields.filter(({ unique }) => unique === true);
      await claimMissingValues(
        { tenant: type.tenant, typeId: id, name: type.name, fields },
        { claims, reader: schemaSessions },
      );
    },
    close,
  };
}

type FollowedContentTypes = {
  readonly types: ReturnType<typeof createContentTypeDirectory>;
  readonly close: () => Promise<void>;
};

/** The content types in memory, kept current by following the log. */
function followContentTypes(
  queries: ContentTypeQueries,
  { progress, eventStore, logger }: Platform,
): FollowedContentTypes {
  const types = createContentTypeDirectory({
    load: (tenant, name) => queries.one(tenant, name),
    position: () => progress.position('content'),
  });
  const stopping = new AbortController();
  const following = types.follow(eventStore, stopping.signal).catch((error: unknown) => {
    // From here on the content types in memory may be stale; only a restart repairs it.
    if (!stopping.signal.aborted)
      logger.error('changes of content types by other processes are no longer received', { reason: reasonOf(error) });
  });
  return {
    types,
    async close() {
      stopping.abort();
      await following;
    },
  };
}
