import { WEBHOOK_CATEGORIES } from '../../application/automation/webhook-worker.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { sweepPastSets } from '../../projections/content/entries/past.ts';
import { sweepDeadLetters } from '../automation/sweep-dead-letters.ts';
import { sweepWebhookRecords } from '../automation/sweep-webhook-records.ts';
import type { Settings } from '../configuration/settings/index.ts';
import { sweepApiKeyRequests } from '../identity/sweep-api-key-requests.ts';
import type { PostgresClaims } from '../postgres/claims.ts';
import type { IdempotencyKeys } from '../postgres/idempotency.ts';
import type { PostgresRateCounters } from '../postgres/rate-counters.ts';
import type { Audit } from './audit.ts';
import { startSealer } from './audit.ts';
import type { Automation } from './automation.ts';
import type { Closers } from './closers.ts';
import type { Content } from './content.ts';
import type { FanOut } from './fan-out.ts';
import type { InstallFeatures } from './features.ts';
import type { Gdpr } from './gdpr.ts';
import { createHeldValues } from './held-values.ts';
import type { Identity } from './identity.ts';
import type { Every } from './license.ts';
import type { ComposedReleases } from './releases.ts';
import { startScheduler } from './scheduler.ts';
import { MAGIC_LINK_SWEEP_MS, sweepMagicLinks } from './sign-in-links.ts';
import type { Stores } from './stores.ts';
import type { TodaysHistory } from './todays-history.ts';

export type DutiesOptions = {
  readonly roles: ReadonlySet<string>;
  readonly closers: Closers;
  readonly stores: Stores;
  readonly settings: Settings;
  readonly install: InstallFeatures;
  readonly fanOut: FanOut;
  readonly history: TodaysHistory;
  readonly automation: Automation;
  readonly content: Content;
  readonly identity: Identity;
  readonly releases: ComposedReleases;
  readonly gdpr: Gdpr;
  readonly audit: Audit;
  readonly vault: Vault;
  readonly claims: PostgresClaims;
  readonly idempotency: IdempotencyKeys;
  readonly rateCounters: PostgresRateCounters;
  readonly every: Every;
  readonly now: () => Date;
  readonly logger: Logger;
};

/** Starts what the roles `relay`, `worker` and `scheduler` do beside answering requests; mail has a worker of its own. */
export function startDuties(options: DutiesOptions): void {
  const { roles, closers, fanOut, history, install } = options;
  if (roles.has('relay')) closers.addStarting(fanOut.startRelay(history), 'the relay did not start');
  if (roles.has('worker') && install.features.isRequested('webhook')) startWebhooks(options);
  if (roles.has('scheduler')) startSweeps(options);
}

function startWebhooks({ automation: { worker }, fanOut, install, closers }: DutiesOptions): void {
  worker.start();
  closers.add(() => worker.stop());
  const feeding = fanOut.feed.start({ worker: 'webhooks', categories: WEBHOOK_CATEGORIES, handle: (events) => worker.handle(events) });
  feeding.catch((error: unknown) => {
    install.features.report('webhook', `the worker gets no events: ${String(error)}`);
  });
  closers.addStarting(feeding, 'the webhook worker gets no events');
}

function startSweeps({ closers, stores, settings, install, content, identity, releases, gdpr, audit, vault, claims, idempotency, rateCounters, every, now, logger }: DutiesOptions): void {
  const { database, eventStore } = stores;
  const days = (feature: 'webhook' | 'apikey', key: string) => Number(install.settings.value(feature, key));
  const scheduler = startScheduler({
    claims, idempotency, rateCounters, logger,
    heldBy: createHeldValues({ eventStore, vault, content }),
    publishDueReleases: () => releases.publishDue(),
    purgeSessions: () => identity.purge(),
    sweepWebhookRecords: (signal) => sweepWebhookRecords(database, { retentionDays: days('webhook', 'delivery_retention_days'), signal }),
    sweepDeadLetters: (signal) => sweepDeadLetters(database, { letterDays: settings.webhookDeadLetterRetentionDays, eventDays: settings.deadEventRetentionDays, signal }),
    sweepPastSets: () => sweepPastSets(database),
    finishErasures: () => gdpr.finishErasures(),
    sweepApiKeyRequests: (signal) => sweepApiKeyRequests(database, { retentionDays: days('apikey', 'retention_days'), signal }),
  });
  closers.add(() => scheduler.stop());
  closers.add(
    every(MAGIC_LINK_SWEEP_MS, async () => {
      await sweepMagicLinks(identity.dependencies, settings, now()).catch((error: unknown) => {
        logger.warn('records of magic links could not be removed', { reason: String(error) });
      });
    }),
  );
  const sealer = startSealer({ audit, stores, logger, sealSeconds: settings.auditSealSeconds });
  closers.add(() => sealer.stop());
}
