import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { refusal } from '../../../domain/errors.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { createDeadEvents } from '../../../infrastructure/message-bus/dead-events.ts';
import { createFollowingEventFeed } from '../../../infrastructure/message-bus/following-event-feed.ts';
import { openMetrics } from '../../../infrastructure/metrics/open-metrics.ts';
import { createLeases } from '../../../infrastructure/postgres/leases.ts';
import { startFollower } from '../../../projections/engine/follower.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { testMetadata } from '../../support/test-metadata.ts';

describe('workers without a message bus', () => {
  const database = useDatabase();
  let eventStore: EventStore;
  let metrics: ReturnType<typeof openMetrics>;
  let logger: ReturnType<typeof recordingLogger>;
  beforeEach(() => {
    eventStore = openMemoryEventStore();
    metrics = openMetrics();
    logger = recordingLogger();
  });
  afterEach(async () => {
    metrics.close();
    await eventStore.close();
  });

  function start(worker: string, handle: (events: readonly RecordedEvent[]) => Promise<void>) {
    const db = database.db();
    const leases = createLeases({ database: db, owner: randomUUID(), ttlMs: 2_000 });
    const feed = createFollowingEventFeed({
      follow: ({ name, categories, handle: take }) =>
        startFollower({
          name,
          eventStore,
          filter: { categories },
          leases,
          database: db,
          handler: { kind: 'before', handle: take },
        }),
      deadEvents: createDeadEvents({ database: db }),
      prefix: 'palimpsest',
      logger,
      metrics,
      maxAttempts: 3,
      retryDelayMs: 5,
    });
    return feed.start({ worker, categories: ['entry'], handle });
  }

  const dead = (worker: string) =>
    database.db().query<{
      event_id: string;
      topic: string;
      position: string;
      reason: string;
      attempts: number;
      tenant_id: string;
    }>('select * from operational.dead_events where worker = $1 order by position', [worker]);

  it('store events that they cannot handle as dead events with the reason, and handle all others once and in order', async () => {
    const ids = await append(100);
    const poison = new Set([ids[0], ids[41], ids[42], ids[99]]);
    const handled: string[] = [];
    const tries = new Map<string, number>();
    const feed = await start('poisoned', (events) => {
      for (const { id } of events)
        if (poison.has(id)) tries.set(id, (tries.get(id) ?? 0) + (events.length === 1 ? 1 : 0));
      const bad = events.find(({ id }) => poison.has(id));
      if (bad) return Promise.reject(new TypeError('no such field'));
      handled.push(...events.map(({ id }) => id));
      return Promise.resolve();
    });
    await eventually(async () => {
      expect(await dead('poisoned')).to.have.length(4);
    });
    const [later] = await append(1);
    await eventually(() => {
      expect(handled.at(-1)).to.equal(later);
    });
    await feed.stop();
    expect(handled).to.deep.equal([...ids.filter((id) => !poison.has(id)), later]);
    const rows = await dead('poisoned');
    expect(rows.map(({ event_id }) => event_id)).to.have.members([...poison]);
    for (const row of rows)
      expect(row).to.include({
        topic: 'palimpsest.events.entry.dlq',
        reason: 'TypeError: no such field',
        attempts: 3,
        tenant_id: 'default',
      });
    expect([...tries.values()]).to.deep.equal([3, 3, 3, 3]);
    expect(await metrics.text()).to.include('palimpsest_dead_letters_total{topic="palimpsest.events.entry.dlq"} 4');
    expect(logger.lines.filter(({ level }) => level === 'error')).to.have.length(4);
  });

  it('wait during an outage instead of storing every event as a dead event', async () => {
    const ids = await append(20);
    let away = 4;
    const handled = new Set<string>();
    const feed = await start('waiting', (events) => {
      if ((away -= 1) >= 0) return Promise.reject(refusal('unavailable'));
      for (const { id } of events) handled.add(id);
      return Promise.resolve();
    });
    await eventually(() => {
      expect(handled.size).to.equal(ids.length);
    });
    await feed.stop();
    expect(await dead('waiting')).to.deep.equal([]);
  });

  it('keep the checkpoint and store no dead event when they are stopped between two attempts', async () => {
    const [only] = await append(1);
    let tried = 0;
    const slow = createFollowingEventFeed({
      follow: ({ name, categories, handle }) =>
        startFollower({
          name,
          eventStore,
          filter: { categories },
          leases: createLeases({ database: database.db(), owner: 'o', ttlMs: 2_000 }),
          database: database.db(),
          handler: { kind: 'before', handle },
        }),
      deadEvents: createDeadEvents({ database: database.db() }),
      prefix: 'palimpsest',
      logger,
      retryDelayMs: 60_000,
    });
    const feed = await slow.start({
      worker: 'stopped',
      categories: ['entry'],
      handle: () => Promise.reject(new Error(`no ${(tried += 1)}`)),
    });
    await eventually(() => {
      expect(tried).to.equal(1);
    });
    await feed.stop();
    expect(await dead('stopped')).to.deep.equal([]);
    const handled: string[] = [];
    const again = await start('stopped', (events) => Promise.resolve(void handled.push(...events.map(({ id }) => id))));
    await eventually(() => {
      expect(handled).to.deep.equal([only]);
    });
    await again.stop();
  });

  async function append(count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const id of ids) {
      const metadata = testMetadata({ occurred_at: new Date().toISOString() });
      await eventStore.append(`entry-default.${randomUUID()}`, [{ id, type: 'EntryCreated', data: {}, metadata }], {
        expected: 'any',
      });
    }
    return ids;
  }
});
