import { setTimeout as pause } from 'node:timers/promises';
import { adminContentRoutes } from '../../api/admin/content/admin-content-routes.ts';
import { releaseRoutes } from '../../api/admin/content/release-routes.ts';
import { undoRoutes } from '../../api/admin/content/undo-routes.ts';
import { contentTypeRoutes } from '../../api/admin/content-types/content-type-routes.ts';
import { contentTypeReadRoutes } from '../../api/content/content-type-read-routes.ts';
import { entryRoutes } from '../../api/content/entry-routes.ts';
import type { Route } from '../../api/http/route.ts';
import type { HasStatus } from '../../application/automation/build-messages.ts';
import { applyDeclaredTypes } from '../../application/content/apply-declared-types.ts';
import { createChangeOf } from '../../application/content/change-of-event.ts';
import type { ChangeOf } from '../../application/content/entry-history.ts';
import { publishDueReleases } from '../../application/content/publish-due-releases.ts';
import type { ReleaseDependencies } from '../../application/content/release-dependencies.ts';
import type { ContentTypeQueries } from '../../projections/content/content-types/queries.ts';
import { sweepPastSets } from '../../projections/content/entries/past-sets.ts';
import type { IdentityModule } from './compose-identity.ts';
import { createAdminContentDependencies } from './content/create-admin-content-dependencies.ts';
import { createReleaseDependencies } from './content/create-release-dependencies.ts';
import { type OpenContent, openContent } from './content/open-content.ts';
import { openModelling } from './content/open-modelling.ts';
import { EMPTY_MODULE, type Module, type Sweep } from './module.ts';
import type { Platform } from './platform/platform.ts';
import { systemContext } from './platform/system-context.ts';

export type ContentNeeds = Pick<IdentityModule, 'accessRules' | 'renameInAccess' | 'userById'>;

export type ContentModule = Module &
  Pick<OpenContent, 'typeById' | 'backfillClaims'> & {
    readonly queries: ContentTypeQueries;
    readonly changeOf: ChangeOf;
    readonly hasStatus: HasStatus;
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
  const releases = createReleaseDependencies(platform, { ...content, ...needs });
  const { typeById, backfillClaims, typeDependencies, entryDependencies } = content;
  return {
    ...EMPTY_MODULE,
    routes: contentRoutes(platform, { content, modelling: modelling.routes, releases }),
    sweeps: contentSweeps(platform, releases),
    typeById,
    backfillClaims,
    queries: typeDependencies.queries,
    changeOf: createChangeOf({ eventStore, types: entryDependencies.types, typeById }),
    hasStatus: async (typeId) => (await typeById(typeId))?.definition.with_draft_publish === true,
    async applyDeclaredTypes(definitions) {
      const context = systemContext('settings-file', platform);
      const names = await applyDeclaredTypes(definitions, context, {
        ...typeDependencies,
        // A shutdown ends the wait, and with it the start.
        pause: (ms) => pause(ms, undefined, { signal: shutdown.signal }),
      });
      if (names.length > 0) logger.info('the content types of the settings file were applied', { names });
    },
    async close() {
      await modelling.close();
      await content.close();
    },
  };
}

function contentRoutes(
  platform: Platform,
  {
    content,
    modelling,
    releases,
  }: { readonly content: OpenContent; readonly modelling: readonly Route[]; readonly releases: ReleaseDependencies },
): readonly Route[] {
  const { typeDependencies, entryDependencies, typeById } = content;
  return [
    ...contentTypeRoutes({ ...typeDependencies, rateCounters: platform.rateCounters }),
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
    ...entryRoutes({ ...entryDependencies, entitlements: platform.entitlements }),
    ...adminContentRoutes(createAdminContentDependencies(platform, content)),
  ];
}

function contentSweeps({ database, now, newId, logger }: Platform, releases: ReleaseDependencies): readonly Sweep[] {
  return [
    {
      name: 'publish due releases',
      everyMs: 2_000,
      run: () => publishDueReleases({ now, newId }, { ...releases, logger }),
    },
    { name: 'sweep point-in-time sets', everyMs: 60_000, run: () => sweepPastSets({ database }) },
  ];
}
