import { join, resolve } from 'node:path';
import { gdprRoutes } from '../../api/admin/platform/gdpr-routes.ts';
import type { ErasePersonDependencies } from '../../application/platform/erase-person.ts';
import { createErasureSweep } from '../../application/platform/finish-erasures.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
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
