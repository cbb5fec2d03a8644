import { join, resolve } from 'node:path';
import { gdprRoutes } from '../../api/admin/platform/gdpr-routes.ts';
import type { ErasePersonDependencies } from '../../application/platform/erase-person.ts';
import { finishErasure } from '../../application/platform/finish-erasure.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import { isOutage, reasonOf } from '../../application/ports/transient-errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import { personalKeyRequests } from '../identity/personal-key-requests.ts';
import { personalLinks } from '../identity/personal-links.ts';
import { personalRows } from '../identity/personal-rows.ts';
import { personalOutbox, personalQueuedMails } from '../mail/personal-mails.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type GdprNeeds = {
  readonly erasureDependencies: Omit<ErasePersonDependencies, 'personal'>;
  /** Writes the API key requests that this process has not stored yet. */
  readonly flushKeyRequests: () => Promise<void>;
};

export type GdprPlatform = Pick<Platform, 'database' | 'eventStore' | 'settings' | 'vault' | 'rateCounters' | 'logger'>;

/** Export and erasure of personal data. */
export function composeGdpr(platform: GdprPlatform, needs: GdprNeeds): Module {
  const { eventStore, vault, rateCounters, logger } = platform;
  const personal = personalRecords(platform, needs);
  return {
    ...EMPTY_MODULE,
    routes: gdprRoutes({ ...needs.erasureDependencies, personal, rateCounters }),
    sweeps: [
      { name: 'finish erasures', everyMs: 600_000, run: createErasureSweep({ eventStore, vault, personal, logger }) },
    ],
  };
}

/** Every place that holds personal data outside the event store. */
function personalRecords(
  { database, settings, vault }: GdprPlatform,
  { flushKeyRequests }: GdprNeeds,
): readonly PersonalRecords[] {
  return [
    ...personalRows({ database, vault }),
    personalLinks({ database, vault }),
    personalQueuedMails({ database, vault }),
    ...(settings.appEnv === 'development'
      ? [personalOutbox({ directory: join(resolve(settings.dataDir), 'outbox') })]
      : []),
    personalKeyRequests({ database, vault, flush: flushKeyRequests }),
  ];
}

/**
 * Finishes erasures whose event exists but whose data was not deleted completely, or came back with a restored backup.
 * The first run reads all erasures, each later run those since. An erasure that fails does not stop the others; the next
 * run reads it again.
 * @returns how many erasures had data left
 */
function createErasureSweep({
  eventStore,
  vault,
  personal,
  logger,
}: Pick<ErasePersonDependencies, 'eventStore' | 'vault' | 'personal'> & {
  readonly logger: Pick<Logger, 'error'>;
}): () => Promise<number> {
  let after: GlobalPosition | undefined;
  return async () => {
    let finished = 0;
    let failed = 0;
    const head = await eventStore.head();
    for await (const { stream } of eventStore.readAll({
      filter: { categories: ['user'], types: ['UserErased'] },
      ...(after === undefined ? {} : { after }),
    })) {
      const userId = parseStream(stream)?.id;
      if (userId === undefined) continue;
      try {
        if (await finishErasure({ userId }, { eventStore, vault, personal })) finished += 1;
      } catch (error) {
        if (isOutage(error)) throw error;
        failed += 1;
        logger.error('an erasure could not be finished', { stream, reason: reasonOf(error) });
      }
    }
    if (failed === 0) after = head;
    return finished;
  };
}
