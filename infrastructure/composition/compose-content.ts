import { setTimeout as pause } from 'node:timers/promises';
import { adminContentRoutes } from '../../api/admin/content/admin-content-routes.ts';
import { releaseRoutes } from '../../api/admin/content/release-routes.ts';
import { undoRoutes } from '../../api/admin/content/undo-routes.ts';
import { contentTypeRoutes } from '../../api/admin/content-types/content-type-routes.ts';
import { contentTypeReadRoutes } from '../../api/content/content-type-routes.ts';
import { entryRoutes } from '../../api/content/entry-routes.ts';
import type { Route } from '../../api/http/route.ts';
import type { ChangeOf } from '../../application/automation/build-messages.ts';
import { applyDeclaredTypes } from '../../application/content/apply-declared-types.ts';
import { publishDueReleases } from '../../application/content/publish-due-releases.ts';
import type { ReleaseDependencies } from '../../application/content/release-dependencies.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { sweepPastSets } from '../../projections/content/entries/past-reader.ts';
import { adminContentDependencies } from './content/admin-content.ts';
import { createChangeOf } from './content/change-of.ts';
import { openModelling } from './content/modelling.ts';
import { type OpenContent, type OpenContentNeeds, openContent } from './content/open-content.ts';
import { type ReleaseNeeds, releaseDependencies } from './content/releases.ts';
import { EMPTY_MODULE, type Module, type Sweep } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { systemContext } from './platform/system-context.ts';

export type ContentNeeds = OpenContentNeeds & ReleaseNeeds;

export type ContentModule = Module &
  Pick<OpenContent, 'typeById' | 'backfillClaims'> & {
    readonly queries: ContentTypeQueries;
    /** The state of an entry before and after an event. */
    readonly changeOf: ChangeOf;
    /** Whether entries of the content type have a status (draft and publish). */
    readonly hasStatus: (tenant: string, typeId: string) => Promise<boolean>;
    /**
     * Saves the content types that the settings file declares.
     * @throws the refusal of the first that cannot be saved
     */
    applyDeclaredTypes(definitions: readonly unknown[]): Promise<void>;
  };

/** Content types, entries, releases and modelling. */
export function composeContent(platform: Platform, needs: ContentNeeds): ContentModule {
  const { eventStore, logger, shutdown } = platform;
  const content = openContent(platform, needs);
  const modelling = openModelling(platform, content);
  const releases = releaseDependencies(platform, content, needs);
  const { typeById, backfillClaims, typeDependencies, entryDependencies } = content;
  return {
    ...EMPTY_MODULE,
    routes: contentRoutes(platform, { content, modelling: modelling.routes, releases }),
    sweeps: contentSweeps(platform, releases),
    typeById,
    backfillClaims,
    queries: typeDependencies.queries,
    changeOf: createChangeOf({ eventStore, types: entryDependencies.types, typeById }),
    hasStatus: async (_tenant, typeId) => (await typeById(typeId))?.definition.with_draft_publish === true,
    async applyDeclaredTypes(definitions) {
      const context = systemContext('settings-file', platform);
      const names = await applyDeclaredTypes(definitions, context, {
        ...typeDependencies,
        // A shutdown ends the wait, and with it the start.
        pause: (ms) => pause(ms, undefined, { signal: shutdown.signal }),
      });
      if (names.length > 0) logger.info('content types of the settings file applied', { names });
    },
    async close() {
      await modelling.close();
      await content.close();
    },
  };
}

function contentRoutes(
  { database, replica, entitlements, rateCounters }: Platform,
  {
    content,
    modelling,
    releases,
  }: { readonly content: OpenContent; readonly modelling: readonly Route[]; readonly releases: ReleaseDependencies },
): readonly Route[] {
  const { typeDependencies, entryDependencies, typeById } = content;
  return [
    ...contentTypeRoutes({ ...typeDependencies, rateCounters }),
    ...modelling,
    ...releaseRoutes(releases),
    ...contentTypeReadRoutes({ queries: typeDependencies.queries, accessRules: entryDependencies.accessRules }),
    ...undoRoutes({
      ...entryDependencies,
      progress: typeDependencies.progress,
      async typeOfTenant(tenant, id) {
        const type = await typeById(id);
        return type?.tenant === tenant && !type.deleted ? type : undefined;
      },
    }),
    ...entryRoutes({ ...entryDependencies, entitlements }),
    ...adminContentRoutes(adminContentDependencies({ database, reading: replica?.queryable, content, entitlements })),
  ];
}

function contentSweeps({ database, now, newId, logger }: Platform, releases: ReleaseDependencies): readonly Sweep[] {
  return [
    {
      name: 'publish due releases',
      everyMs: 2_000,
      run: () => publishDueReleases({ ...releases, now, newId, logger }),
    },
    { name: 'sweep point-in-time sets', everyMs: 60_000, run: () => sweepPastSets({ database }) },
  ];
}
