import { gdprRoutes } from '../../api/admin/platform/gdpr-routes.ts';
import { createErasureSweep } from '../../application/platform/erasure-sweep.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import { createPersonalKeyRequests } from '../identity/personal-key-requests.ts';
import { createPersonalLinks } from '../identity/personal-links.ts';
import { createPersonalRows } from '../identity/personal-rows.ts';
import { createPersonalOutbox, createPersonalQueuedMails } from '../mail/personal-mails.ts';
import type { IdentityModule } from './compose-identity.ts';
import { EMPTY_MODULE, type Module } from './module.ts';
import { outboxDirectory } from './outbox-directory.ts';
import type { Platform } from './platform/platform.ts';

export type GdprNeeds = Pick<IdentityModule, 'erasureDependencies' | 'flushKeyRequests'>;

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
  const directory = outboxDirectory(settings);
  return [
    ...createPersonalRows({ database, vault }),
    createPersonalLinks({ database, vault }),
    createPersonalQueuedMails({ database, vault }),
    ...(directory === undefined ? [] : [createPersonalOutbox({ directory })]),
    createPersonalKeyRequests({ database, vault, flush: flushKeyRequests }),
  ];
}
