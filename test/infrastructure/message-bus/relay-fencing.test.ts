import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ContentChangeValue } from '../../../application/platform/content-change-message.ts';
import { contentChangesTopic, eventsTopic, topics } from '../../../application/platform/topics.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { MessageBus } from '../../../application/ports/message-bus.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { requireService } from '../../support/adapters.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { everythingOn, openTestKafka, uniqueName, withKafkaAdmin } from '../../support/kafka.ts';
import { testMetadata } from '../../support/test-metadata.ts';

describe('two relays in processes of their own', function () {
  this.timeout(60_000);
  const kafka = requireService('kafka');
  const database = useDatabase();
  let bus: MessageBus;
  let eventStore: EventStore;
  let prefix: string;
  let relays: Relay[] = [];

  before(async () => {
    bus = await openTestKafka({ brokers: kafka.address() });
    eventStore = await openPostgresEventStore({ database: database.db() });
  });
  after(async () => {
    await (eventStore as EventStore | undefined)?.close();
    await (bus as MessageBus | undefined)?.close();
  });
  beforeEach(async () => {
    prefix = uniqueName('prefix');
    await bus.ensureTopics(topics(prefix));
  });
  afterEach(async () => {
    await Promise.all(relays.map((relay) => relay.end()));
    relays = [];
    await database.db().query('truncate operational.leases, operational.checkpoints');
  });

  function relay(name: string, place = 'nowhere'): Relay {
    const started = startRelay([kafka.address(), prefix, database.url(), name, place]);
    relays.push(started);
    return started;
  }

  async function append(id: string, revision: number): Promise<void> {
    const event = {
      id: randomUUID(),
      type: revision === 0 ? 'EntryCreated' : 'EntryFieldsChanged',
      data: { type_id: 't1', schema: 'article', type_revision: 0, fields: { n: revision }, status: 'draft' },
      metadata: testMetadata({ tenant: 'acme', occurred_at: new Date().toISOString() }),
    };
    await eventStore.append(`entry-acme.${id}`, [event], { expected: 'any' });
  }

  /** Waits until the checkpoint of the relay is at the head of the log. */
  async function relayedAll(): Promise<void> {
    const head = await eventStore.head();
    await eventually(
      async () => {
        const [row] = await database.db().query<{ position: string }>('select position from operational.checkpoints');
        expect(row?.position).to.equal(head);
      },
      { timeoutMs: 20_000 },
    );
  }

  /** Expects the last change of each entry to be its newest state, and that none of its events is missing. */
  async function expectNewestLast(newest: ReadonlyMap<string, number>): Promise<void> {
    const last = new Map<string, number>();
    for (const { key, value } of await everythingOn([contentChangesTopic(prefix)], { bus }))
      if (newest.has(key.slice('acme/'.length))) last.set(key, (JSON.parse(value ?? '') as ContentChangeValue).version);
    expect(last).to.deep.equal(new Map([...newest].map(([id, revision]) => [`acme/${id}`, revision + 1])));
    const ids = new Set(
      (await everythingOn([eventsTopic(prefix, 'entry')], { bus })).map(({ headers }) => headers['ce_id']),
    );
    for await (const event of eventStore.readAll())
      if (newest.has(event.stream.slice('entry-acme.'.length))) expect(ids.has(event.id), event.id).to.equal(true);
  }

  for (const place of ['publish', 'open'])
    it(`end with the newest state when the first is suspended before it can ${place}, and goes on after the second`, async () => {
      const id = randomUUID();
      await append(id, 0);
      const first = relay('first', place);
      await first.says('standing');
      first.child.kill('SIGSTOP');
      first.child.stdin?.write('go\n');
      for (let revision = 1; revision <= 5; revision += 1) await append(id, revision);
      relay('second');
      await relayedAll();
      first.child.kill('SIGCONT');
      await first.says(place === 'publish' ? 'publish refused: lease_lost' : 'open done');
      // A later event goes out, also when the first relay has fenced the second one for a moment.
      await append(id, 6);
      await relayedAll();
      await expectNewestLast(new Map([[id, 6]]));
    });

  it('end with the newest states when the first is suspended in the middle of its work', async () => {
    const newest = new Map(Array.from({ length: 20 }, () => [randomUUID(), 49] as const));
    for (let revision = 0; revision < 50; revision += 1)
      await Promise.all([...newest.keys()].map((id) => append(id, revision)));
    const first = relay('first');
    await eventually(
      () =>
        withKafkaAdmin(kafka.address(), async (admin) => {
          const offsets = await admin.fetchTopicOffsets(contentChangesTopic(prefix));
          expect(offsets.reduce((sum, { high }) => sum + Number(high), 0)).to.be.above(100);
        }),
      { timeoutMs: 20_000 },
    );
    first.child.kill('SIGSTOP');
    relay('second');
    await relayedAll();
    first.child.kill('SIGCONT');
    await Promise.all([...newest.keys()].map((id) => append(id, 50)));
    await relayedAll();
    await expectNewestLast(new Map([...newest.keys()].map((id) => [id, 50])));
  });
});

type Relay = { readonly child: ChildProcess; says(line: string): Promise<void>; end(): Promise<void> };

function startRelay(args: readonly string[]): Relay {
  const path = fileURLToPath(new URL('children/fenced-relay-child.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = new Set<string>();
  createInterface({ input: child.stdout }).on('line', (line) => said.add(line));
  return {
    child,
    async says(line) {
      await eventually(
        () => {
          expect([...said]).to.include(line);
        },
        { timeoutMs: 20_000 },
      );
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
