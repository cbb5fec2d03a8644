import type { Settings } from '../configuration/settings/index.ts';
import type { Entitlements } from '../../application/ports/entitlements.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { Tracing } from '../../application/ports/tracing.ts';
import type { Vault } from '../../application/ports/vault.ts';
import { createWebhookDirectory } from '../../application/automation/webhook-directory.ts';
import type { WebhookWorker } from '../../application/automation/webhook-worker.ts';
import { createWebhookWorker } from '../../application/automation/webhook-worker.ts';
import type { WebhookRouteDependencies } from '../../api/admin/automation/webhook-routes.ts';
import { webhookQueries } from '../../projections/automation/queries.ts';
import type { ProjectionProgress } from '../../projections/engine/projection.ts';
import { createPostgresWebhookQueue } from '../automation/postgres-webhook-queue.ts';
import { createPostgresWebhookRecords } from '../automation/postgres-webhook-records.ts';
import { randomSecrets } from '../crypto/random-secrets.ts';
import { createExclusive } from '../identity/exclusive.ts';
import type { OwnEndpoint } from '../outbound/own-endpoints.ts';
import { createOutbound } from '../outbound/outbound.ts';
import type { Queryable } from '../postgres/database.ts';
import type { Stores } from './stores.ts';
import type { TodaysHistory } from './todays-history.ts';

export type AutomationOptions = {
  readonly stores: Stores;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly progress: ProjectionProgress;
  readonly vault: Vault;
  readonly entitlements: Entitlements;
  readonly history: TodaysHistory;
  readonly hasStatus: (tenant: string, typeId: string) => Promise<boolean>;
  readonly now: () => Date;
  readonly newId: () => string;
};

export type Automation = {
  readonly routeDependencies: WebhookRouteDependencies;
  readonly worker: WebhookWorker<Queryable>;
  /** Names one of our own listeners, whose port is known once it listens: webhooks do not reach it. */
  ownListener(endpoint: OwnEndpoint): void;
  close(): Promise<void>;
};

/** Puts webhooks together: what is sent where, by whom. */
export function composeAutomation(options: AutomationOptions): Automation {
  const { stores, settings, logger, metrics, progress, vault, history, now, newId } = options;
  const own = [...ownEndpointsOf(settings)];
  const outbound = createOutbound({ allowedPrivateNetworks: settings.webhookAllowedPrivateNetworks, ownEndpoints: own });
  const webhooks = webhookQueries(stores.database);
  const directory = createWebhookDirectory({
    webhooks, vault, now, logger,
    onMove: (listener) => progress.onMove('automation', (_position, applied) => {
      if (applied) listener();
    }),
  });
  const worker = createWebhookWorker<Queryable>({
    queue: createPostgresWebhookQueue({ database: stores.database }),
    directory, outbound, metrics, tracing: options.tracing, logger, now, newId,
    chance: Math.random,
    eventStore: stores.eventStore,
    signals: stores.signals,
    changeOf: (event) => history.changeOf(event),
    hasStatus: options.hasStatus,
  });
  return {
    worker,
    routeDependencies: {
      eventStore: stores.eventStore,
      vault, outbound, webhooks, progress,
      entitlements: options.entitlements,
      exclusive: createExclusive({ database: stores.database }),
      newSecret: () => randomSecrets.refreshToken(),
      records: createPostgresWebhookRecords({ database: stores.database }),
    },
    ownListener(endpoint) {
      own.push(endpoint);
    },
    async close() {
      directory.close();
      await outbound.close();
    },
  };
}

/** The install's own services, which no user's request may reach whatever networks are allowed. */
export function ownEndpointsOf(settings: Settings): readonly OwnEndpoint[] {
  const urls = [settings.databaseUrl, settings.databaseReplicaUrl, settings.redisUrl, settings.eventStoreUrl].flatMap((url) => (url === undefined ? [] : endpointsOf(url)));
  const brokers = (settings.kafkaBrokers ?? []).flatMap((broker) => endpointsOf(`kafka://${broker}`));
  const listeners = [settings.adminListenAddress, settings.apiListenAddress].flatMap((address) => endpointsOf(`http://${address}`));
  return [...urls, ...brokers, ...listeners];
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'postgres:': 5432, 'postgresql:': 5432, 'redis:': 6379, 'rediss:': 6379, 'http:': 80 };

/** Hosts and ports of a connection string, several hosts included. */
function endpointsOf(url: string): readonly OwnEndpoint[] {
  const match = /^([a-z+]+:)\/\/(?:[^@/]*@)?([^/?]+)/i.exec(url);
  if (!match) return [];
  const [, scheme = '', hosts = ''] = match;
  return hosts.split(',').flatMap((entry) => {
    const address = /^(.*?)(?::(\d+))?$/.exec(entry);
    const host = (address?.[1] ?? '').replace(/^\[(.*)\]$/, '$1');
    const port = Number(address?.[2] ?? DEFAULT_PORTS[scheme] ?? 2113);
    return host === '' || port === 0 ? [] : [{ host, port }];
  });
}
