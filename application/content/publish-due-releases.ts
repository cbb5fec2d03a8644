import type { CommandContext } from '../../domain/context.ts';
import type { Actor } from '../../domain/event.ts';
import type { Logger } from '../ports/logger.ts';
import { loadRelease } from './load-release.ts';
import { publishRelease } from './publish-release.ts';
import type { ReleaseDependencies } from './release-dependencies.ts';

export type DueReleaseDependencies = ReleaseDependencies & Pick<CommandContext, 'now' | 'newId'> & { readonly logger: Logger };

/**
 * Publishes the releases whose time has come, in the name and with the roles of today of whoever set the time, and those whose publication was broken off.
 * Times that passed while nothing ran are made up for. Safe to run in several processes at once. A release that can't be published becomes `failed` and
 * is logged; one that met a fault is tried again the next time.
 * @returns how many were published or failed
 */
export async function publishDueReleases(dependencies: DueReleaseDependencies): Promise<number> {
  const { releases, now, logger } = dependencies;
  let done = 0;
  for (const { tenant, id } of await releases.due(now().toISOString())) {
    try {
      const { position, refused } = await publishOne(tenant, id, dependencies);
      if (position === undefined) continue;
      done += 1;
      if (refused.length > 0) logger.warn('a scheduled release was not published', { tenant, release: id, refused: refused.length, first: refused[0]?.error ?? '' });
      else logger.info('a scheduled release was published', { tenant, release: id });
    } catch (error) {
      logger.error('a scheduled release met a fault', { tenant, release: id, reason: String(error) });
    }
  }
  return done;
}

async function publishOne(tenant: string, id: string, dependencies: DueReleaseDependencies) {
  const { rolesOf, now, newId } = dependencies;
  const actor = (await loadRelease(id, tenant, dependencies)).state?.scheduledBy ?? NOBODY;
  const context: CommandContext = { tenant, actor, correlationId: newId(), causationId: id, now, newId };
  return publishRelease({ id, by: 'schedule', roles: (await rolesOf(tenant, actor)) ?? [] }, context, dependencies);
}

const NOBODY: Actor = { kind: 'system', id: 'schedule' };
