import type { DueReleaseDependencies } from '../../application/content/publish-due-releases.ts';
import { publishDueReleases } from '../../application/content/publish-due-releases.ts';
import type { ReleaseDependencies } from '../../application/content/release-dependencies.ts';
import type { IdentityReads } from '../../application/identity/identity-reads.ts';
import type { Actor } from '../../domain/event.ts';
import { isMember } from '../../domain/identity/memberships.ts';
import { rolesInTenant, SUPER_ADMIN } from '../../domain/identity/roles.ts';
import { releaseQueries } from '../../projections/content/releases/queries.ts';
import { createExclusive } from '../identity/exclusive.ts';
import type { Content } from './content.ts';
import type { Stores } from './stores.ts';

export type ReleasesOptions = Pick<DueReleaseDependencies, 'now' | 'newId' | 'logger'> & {
  readonly stores: Stores;
  readonly content: Pick<Content, 'entryDependencies' | 'typeById'>;
  readonly identityReads: Pick<IdentityReads, 'userById'>;
};

export type ComposedReleases = {
  readonly dependencies: ReleaseDependencies;
  /** Publishes what has fallen due. @returns how many releases were published or failed */
  publishDue(): Promise<number>;
};

/** Puts releases together. */
export function composeReleases({ stores, content, identityReads, now, newId, logger }: ReleasesOptions): ComposedReleases {
  const { database, eventStore } = stores;
  const { rows, accessRules } = content.entryDependencies;
  const dependencies: ReleaseDependencies = {
    eventStore, rows, accessRules,
    releases: releaseQueries(database),
    typeById: (id) => content.typeById(id),
    exclusive: createExclusive({ database }),
    rolesOf: (tenant, actor) => rolesOf(tenant, actor, identityReads),
  };
  return { dependencies, publishDue: () => publishDueReleases({ ...dependencies, now, newId, logger }) };
}

/** Only people set times; one who is disabled, gone, or no member any more holds nothing. */
async function rolesOf(tenant: string, { kind, id }: Actor, reads: Pick<IdentityReads, 'userById'>): Promise<readonly string[] | undefined> {
  const user = kind === 'user' ? await reads.userById(id) : undefined;
  if (!user || user.disabled || !(isMember(user, tenant) || user.roles.includes(SUPER_ADMIN))) return undefined;
  return rolesInTenant(user.roles, user.memberships.find((membership) => membership.tenant === tenant)?.roles ?? []);
}
