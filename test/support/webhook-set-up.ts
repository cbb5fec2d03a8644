import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { sealWebhookHeaders, sealWebhookPart } from '../../application/automation/decrypt-webhook.ts';
import { type WebhookDirectory, openWebhookDirectory } from '../../application/automation/webhook-directory.ts';
import {
  type WebhookWorker,
  type WebhookWorkerDependencies,
  createWebhookWorker,
} from '../../application/automation/webhook-worker.ts';
import { createEntryHistory } from '../../application/content/entry-history.ts';
import { toNewEvent } from '../../application/handle-command.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Metrics } from '../../application/ports/metrics.ts';
import type { Outbound } from '../../application/ports/outbound.ts';
import type { Vault } from '../../application/ports/vault.ts';
import type { WebhookEvent, WebhookSettings } from '../../domain/automation/webhook-events.ts';
import { type DomainEvent, ORIGIN, type RecordedEvent } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { createWebhookQueue } from '../../infrastructure/automation/webhook-queue.ts';
import { createVault } from '../../infrastructure/crypto/vault.ts';
import { openMemoryEventStore } from '../../infrastructure/event-store/memory/memory-event-store.ts';
import { openOutbound } from '../../infrastructure/outbound/outbound.ts';
import type { Database, Queryable } from '../../infrastructure/postgres/database.ts';
import { automationProjection } from '../../projections/automation/projection.ts';
import { createWebhookQueries } from '../../projections/automation/queries.ts';

/**
 * The webhook module without HTTP routes: queue and read model in Postgres, events in memory, requests over loopback.
 */
export type WebhookSetUp = {
  readonly eventStore: EventStore;
  readonly vault: Vault;
  readonly outbound: Outbound;
  readonly directory: WebhookDirectory;
  readonly logger: Logger;
  readonly metrics: Metrics & { readonly outcomes: string[] };
  addWebhook(
    settings: {
      readonly url: string;
      readonly tenant?: string;
      readonly secret?: string;
      readonly headers?: Record<string, string>;
    } & Partial<Omit<WebhookSettings, 'url' | 'headers'>>,
  ): Promise<string>;
  change(id: string, event: WebhookEvent, tenant?: string): Promise<void>;
  /** Appends to the stream of an entry. @returns the recorded events */
  entry(id: string, events: readonly DomainEvent[], tenant?: string): Promise<readonly RecordedEvent[]>;
  append(stream: string, events: readonly DomainEvent[], tenant?: string): Promise<readonly RecordedEvent[]>;
  /** Applies new events to the read model. */
  project(): Promise<void>;
  worker(overrides?: Partial<WebhookWorkerDependencies<Queryable>>): WebhookWorker<Queryable>;
  close(): Promise<void>;
};

export const POLICY = {
  max_attempts: 3,
  base_delay_ms: 20,
  max_delay_ms: 100,
  strategy: 'exponential',
  enabled: true,
} as const;

export async function webhookSetUp(database: Database): Promise<WebhookSetUp> {
  const eventStore = openMemoryEventStore();
  const vault = createVault({ database, encryptionKey: 'k'.repeat(40) });
  const outbound = openOutbound({ allowedPrivateNetworks: ['127.0.0.0/8'] });
  const outcomes: string[] = [];
  const metrics = {
    ...silentMetrics(),
    outcomes,
    delivery: (kind: string, outcome: string) => outcomes.push(`${kind} ${outcome}`),
  };
  const logger = silentLogger();
  const listeners = new Set<() => void>();
  const directory = openWebhookDirectory({
    webhooks: createWebhookQueries({ database }),
    vault,
    now: () => new Date(),
    logger,
    onApplied: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  const started: WebhookWorker<Queryable>[] = [];
  const history = createEntryHistory({ eventStore });
  let projected = ORIGIN;
  const target = { schema: '"rm_automation"' };
  await database.transaction(async (tx) => {
    await tx.query('create schema rm_automation');
    await automationProjection.create(tx, target);
  });

  async function append(stream: string, events: readonly DomainEvent[], tenant = 'default') {
    const context = {
      tenant,
      actor: { kind: 'system', id: 'test' },
      correlationId: randomUUID(),
      causationId: randomUUID(),
      now: () => new Date(),
      newId: () => v7(),
    } as const;
    const { revision } = await eventStore.append(
      stream,
      events.map((event) => toNewEvent(event, context)),
      { expected: 'any' },
    );
    const recorded: RecordedEvent[] = [];
    for await (const event of eventStore.readStream(stream, { from: revision - events.length + 1 }))
      recorded.push(event);
    return recorded;
  }

  async function project() {
    const events: RecordedEvent[] = [];
    for await (const event of eventStore.readAll({ after: projected, filter: { categories: ['webhook'] } }))
      events.push(event);
    await database.transaction((tx) => automationProjection.apply(tx, target, events));
    projected = await eventStore.head();
    for (const listener of listeners) listener();
  }

  return {
    eventStore,
    vault,
    outbound,
    directory,
    logger,
    metrics,
    append,
    project,
    async addWebhook({ url, tenant = 'default', secret, headers, ...settings }) {
      const id = v7();
      const full: WebhookSettings = {
        name: 'hook',
        url: sealWebhookPart({ webhookId: id, part: 'url', plainText: url }, { vault }),
        events: ['after_create', 'after_update', 'after_delete'],
        schemas: [],
        enabled: true,
        headers: sealWebhookHeaders({ webhookId: id, headers: headers ?? {} }, { vault }),
        include_fields: [],
        exclude_fields: [],
        max_response_size: 1_048_576,
        ...settings,
      };
      await append(
        streamName({ category: 'webhook', tenant, id }),
        [
          {
            type: 'WebhookCreated',
            data: {
              settings: full,
              secret:
                secret === undefined
                  ? null
                  : sealWebhookPart({ webhookId: id, part: 'secret', plainText: secret }, { vault }),
            },
          },
        ],
        tenant,
      );
      await project();
      return id;
    },
    async change(id, event, tenant = 'default') {
      await append(streamName({ category: 'webhook', tenant, id }), [event], tenant);
      await project();
    },
    entry: (id, events, tenant = 'default') => append(streamName({ category: 'entry', tenant, id }), events, tenant),
    worker(overrides = {}) {
      const worker = createWebhookWorker<Queryable>({
        queue: createWebhookQueue({ database }),
        directory,
        outbound,
        eventStore,
        changeOf: (event) => history.changeOf(event),
        hasStatus: () => true,
        metrics,
        logger,
        now: () => new Date(),
        newId: () => v7(),
        policy: POLICY,
        timeoutMs: 2_000,
        ...overrides,
      });
      started.push(worker);
      return worker;
    },
    async close() {
      await Promise.all(started.map((worker) => worker.stop()));
      directory.close();
      await outbound.close();
      await eventStore.close();
    },
  };
}

const BASE = { type_id: '0192f0c0-0000-7000-8000-000000000001', schema: 'article', type_revision: 0 };

export const created = (fields: Record<string, string | number>, schema = 'article'): DomainEvent => ({
  type: 'EntryCreated',
  data: { ...BASE, schema, fields, status: 'draft', slug: 'a-slug' },
});
export const changed = (fields: Record<string, string | number>): DomainEvent => ({
  type: 'EntryFieldsChanged',
  data: { ...BASE, fields },
});
export const published = (): DomainEvent => ({ type: 'EntryPublished', data: BASE });
export const deleted = (): DomainEvent => ({ type: 'EntryDeleted', data: BASE });

function silentMetrics(): Metrics {
  const none = () => undefined;
  return {
    appendFinished: none,
    lag: none,
    batchApplied: none,
    queueDepth: none,
    delivery: none,
    requestFinished: none,
  };
}

function silentLogger(): Logger {
  const none = () => undefined;
  const logger: Logger = { debug: none, info: none, warn: none, error: none, child: () => logger };
  return logger;
}
