import type { ReleaseDependencies } from '../../../application/content/release-dependencies.ts';
import type { IdentityReads } from '../../../application/ports/identity-reads.ts';
import type { Actor } from '../../../domain/event.ts';
import { isMember } from '../../../domain/identity/memberships.ts';
import { SUPER_ADMIN, rolesInTenant } from '../../../domain/identity/roles.ts';
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
    rolesOf: (tenant, actor) => rolesOf(tenant, actor, userById),
  };
}

/**
 * Current roles of the person who scheduled a release; undefined for a disabled or deleted account and for one that is
 * no longer a member.
 */
async function rolesOf(
  tenant: string,
  { kind, id }: Actor,
  userById: IdentityReads['userById'],
): Promise<readonly string[] | undefined> {
  const user = kind === 'user' ? await userById(id) : undefined;
  if (!user || user.disabled || !(isMember(user, tenant) || user.roles.includes(SUPER_ADMIN))) return undefined;
  return rolesInTenant(user.roles, user.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
}
