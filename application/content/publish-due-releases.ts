import type { CommandContext } from '../../domain/context.ts';
import type { Actor } from '../../domain/event.ts';
import type { Logger } from '../ports/logger.ts';
import { reasonOf } from '../ports/transient-errors.ts';
import { loadRelease } from './load-release.ts';
import { publishRelease } from './publish-release.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';

export type DueReleaseContext = Pick<CommandContext, 'now' | 'newId'>;

export type DueReleaseDependencies = ReleaseDependencies & { readonly logger: Logger };

/** Actor of a publication whose scheduling actor is unknown. */
const UNKNOWN_ACTOR: Actor = { kind: 'system', id: 'schedule' };

/**
 * Publishes the releases that are due, and continues interrupted publications. A publication acts as the actor who
 * scheduled it, with that actor's current roles. Releases that became due while no process ran are published too.
 * Several processes may run this at the same time. A release that is refused becomes `failed`; after any other error
 * the next run tries it again. Both are logged.
 * @returns number of releases that were published or failed
 */
export async function publishDueReleases(
  context: DueReleaseContext,
  dependencies: DueReleaseDependencies,
): Promise<number> {
  const { releases, logger } = dependencies;
  let done = 0;
  for (const release of await releases.due(context.now().toISOString())) {
    const { tenant, id } = release;
    try {
      const { position, refused } = await publishDue(release, context, dependencies);
      if (position === undefined) continue;
      done += 1;
      if (refused.length > 0)
        logger.warn('a scheduled release was not published', {
          tenant,
          release_id: id,
          refused: refused.length,
          first: refused[0]?.error ?? '',
        });
      else logger.info('a scheduled release was published', { tenant, release_id: id });
    } catch (error) {
      logger.error('a scheduled release could not be published', { tenant, release_id: id, reason: reasonOf(error) });
    }
  }
  return done;
}

async function publishDue(
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { now, newId }: DueReleaseContext,
  dependencies: DueReleaseDependencies,
) {
  const { rolesOf } = dependencies;
  const actor = (await loadRelease({ tenant, id }, dependencies)).state?.scheduledBy ?? UNKNOWN_ACTOR;
  const context: CommandContext = { tenant, actor, correlationId: newId(), causationId: id, now, newId };
  return publishRelease({ id, by: 'schedule', roles: (await rolesOf(tenant, actor)) ?? [] }, context, dependencies);
}
