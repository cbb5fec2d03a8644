import type { ReleaseDependencies } from '../../../application/content/release-dependencies.ts';
import { rolesOfActor } from '../../../application/identity/roles-of-actor.ts';
import { createReleaseQueries } from '../../../projections/content/releases/queries.ts';
import type { IdentityModule } from '../compose-identity.ts';
import type { Platform } from '../platform/platform.ts';
import type { OpenContent } from './open-content.ts';

export type ReleasesNeeds = Pick<OpenContent, 'entryDependencies' | 'typeById'> & Pick<IdentityModule, 'userById'>;

/** What the use cases of releases depend on. */
export function createReleaseDependencies(
  { database, eventStore, exclusive }: Pick<Platform, 'database' | 'eventStore' | 'exclusive'>,
  { entryDependencies, typeById, userById }: ReleasesNeeds,
): ReleaseDependencies {
  const { entryRows, accessRules } = entryDependencies;
  return {
    eventStore,
    entryRows,
    accessRules,
    releases: createReleaseQueries({ database }),
    typeById,
    exclusive,
    rolesOf: (tenant, actor) => rolesOfActor({ tenant, actor }, { userById }),
  };
}
