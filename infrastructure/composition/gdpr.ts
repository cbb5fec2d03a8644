import { join, resolve } from 'node:path';
import type { GdprRouteDependencies } from '../../api/admin/platform/gdpr-routes.ts';
import { finishErasure } from '../../application/platform/gdpr-erase.ts';
import type { IdentityDependencies } from '../../application/identity/dependencies.ts';
import type { PersonalRecords } from '../../application/ports/personal-records.ts';
import type { RateCounters } from '../../application/ports/rate-counters.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { parseStream } from '../../domain/stream.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { personalKeyRequests } from '../identity/personal-key-requests.ts';
import { personalLinks } from '../identity/personal-links.ts';
import { personalRows } from '../identity/personal-rows.ts';
import { personalOutbox, personalQueuedMails } from '../mail/personal-mails.ts';
import type { Stores } from './stores.ts';

export type GdprOptions = {
  readonly stores: Pick<Stores, 'database' | 'eventStore'>;
  readonly settings: Settings;
  readonly identity: IdentityDependencies;
  /** Writes down the requests of keys that wait in this process. */
  readonly flushRequests: () => Promise<void>;
  readonly rateCounters: RateCounters;
};

export type Gdpr = {
  readonly routeDependencies: GdprRouteDependencies;
  /** Finishes erasures that are on record and were not done to their end, or that a restored backup has undone. @returns how many */
  finishErasures(): Promise<number>;
};

/** Puts together what is held about persons, wherever it lies. */
export function composeGdpr({ stores: { database, eventStore }, settings, identity, flushRequests, rateCounters }: GdprOptions): Gdpr {
  const { vault } = identity;
  const personal: readonly PersonalRecords[] = [
    ...personalRows({ database, vault }), personalLinks({ database, vault }), personalQueuedMails({ database, vault }),
    ...(settings.appEnv === 'development' ? [personalOutbox({ directory: join(resolve(settings.dataDir), 'outbox') })] : []),
    personalKeyRequests({ database, vault, flush: flushRequests }),
  ];
  let after: GlobalPosition | undefined;
  return {
    routeDependencies: { ...identity, personal, rateCounters },
    async finishErasures() {
      let finished = 0;
      const head = await eventStore.head();
      for await (const { stream } of eventStore.readAll({ filter: { categories: ['user'], types: ['UserErased'] }, ...(after === undefined ? {} : { after }) })) {
        const userId = parseStream(stream)?.id;
        if (userId !== undefined && (await finishErasure({ eventStore, vault, personal }, { userId }))) finished += 1;
      }
      after = head;
      return finished;
    },
  };
}
