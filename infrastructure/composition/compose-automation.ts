import { webhookRoutes } from '../../api/admin/automation/webhook-routes.ts';
import { openWebhookDirectory } from '../../application/automation/webhook-directory.ts';
import {
  WEBHOOK_CATEGORIES,
  type WebhookWorker,
  createWebhookWorker,
} from '../../application/automation/webhook-worker.ts';
import type { EventFeed } from '../../application/ports/event-feed.ts';
import { reasonOf } from '../../application/ports/transient-errors.ts';
import { createWebhookQueries } from '../../projections/automation/queries.ts';
import { sweepDeadLetters } from '../automation/sweep-dead-letters.ts';
import { sweepWebhookRecords } from '../automation/sweep-webhook-records.ts';
import { createWebhookQueue } from '../automation/webhook-queue.ts';
import { createWebhookRecords } from '../automation/webhook-records.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import { openOutbound } from '../outbound/outbound.ts';
import type { OwnEndpoint } from '../outbound/own-endpoints.ts';
import type { Queryable } from '../postgres/database.ts';
import type { ContentModule } from './compose-content.ts';
import type { FanOutModule } from './compose-fan-out.ts';
import { EMPTY_MODULE, type Module, type Sweep, type Worker } from './module.ts';
import { ownEndpointsOf } from './platform/own-endpoints.ts';
import type { Platform } from './platform/platform.ts';

export type AutomationNeeds = Pick<FanOutModule, 'feed'> & Pick<ContentModule, 'changeOf' | 'hasStatus'>;

export type AutomationModule = Module & {
  /**
   * Adds a listener of this process, whose port is known once it listens, to the endpoints that webhooks never reach.
   */
  addOwnListener(endpoint: OwnEndpoint): void;
};

/** Webhooks: their routes, the worker that delivers them, and the sweeps of their records. */
export function composeAutomation(platform: Platform, needs: AutomationNeeds): AutomationModule {
  const { database, eventStore, signals, settings, vault, progress, entitlements, features } = platform;
  const { exclusive, metrics, tracing, logger, now, newId } = platform;
  const ownEndpoints = [...ownEndpointsOf(settings)];
  const outbound = openOutbound({ allowedPrivateNetworks: settings.webhookAllowedPrivateNetworks, ownEndpoints });
  const webhooks = createWebhookQueries({ database });
  const directory = openWebhookDirectory({
    webhooks,
    vault,
    now,
    logger,
    onApplied: (listener) =>
      progress.onMove('automation', (_position, applied) => {
        if (applied) listener();
      }),
  });
  const worker = createWebhookWorker<Queryable>({
    eventStore,
    signals,
    queue: createWebhookQueue({ database }),
    directory,
    outbound,
    metrics,
    tracing,
    logger,
    now,
    newId,
    random: Math.random,
    changeOf: needs.changeOf,
    hasStatus: needs.hasStatus,
  });
  return {
    ...EMPTY_MODULE,
    routes: webhookRoutes({
      eventStore,
      vault,
      outbound,
      webhooks,
      progress,
      entitlements,
      exclusive,
      newSecret: () => randomSecrets.refreshToken(),
      records: createWebhookRecords({ database }),
    }),
    workers: features.isRequested('webhook') ? webhookWorkers(platform, { worker, feed: needs.feed }) : [],
    sweeps: webhookSweeps(platform),
    addOwnListener(endpoint) {
      ownEndpoints.push(endpoint);
    },
    async close() {
      directory.close();
      await outbound.close();
    },
  };
}

/** The worker that sends deliveries, then the worker that receives events. They stop in the reverse order. */
function webhookWorkers(
  { features }: Pick<Platform, 'features'>,
  { worker, feed }: { readonly worker: WebhookWorker<Queryable>; readonly feed: EventFeed },
): readonly Worker[] {
  return [
    {
      name: 'webhook deliveries',
      role: 'worker',
      start() {
        worker.start();
        return Promise.resolve(worker);
      },
    },
    {
      name: 'webhook events',
      role: 'worker',
      async start() {
        try {
          return await feed.start({
            worker: 'webhooks',
            categories: WEBHOOK_CATEGORIES,
            handle: (events) => worker.handle(events),
          });
        } catch (error) {
          features.report('webhook', `the worker receives no events: ${reasonOf(error)}`);
          throw error;
        }
      },
    },
  ];
}

function webhookSweeps({ database, settings, featureSettings }: Platform): readonly Sweep[] {
  return [
    {
      name: 'sweep webhook deliveries',
      everyMs: 600_000,
      run: (signal) =>
        sweepWebhookRecords(
          { retentionDays: Number(featureSettings.value('webhook', 'delivery_retention_days')), signal },
          { database },
        ),
    },
    {
      name: 'sweep dead letters and dead events',
      everyMs: 600_000,
      run: (signal) =>
        sweepDeadLetters(
          {
            letterDays: settings.webhookDeadLetterRetentionDays,
            eventDays: settings.deadEventRetentionDays,
            signal,
          },
          { database },
        ),
    },
  ];
}
