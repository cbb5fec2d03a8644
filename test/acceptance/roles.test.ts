import { expect } from 'chai';
import { ConfigResourceTypes } from 'kafkajs';
import type { MessageBus, ReceivedMessage } from '../../application/ports/message-bus.ts';
import { requireService } from '../support/adapters.ts';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { deleteTopics, openTestKafka, uniqueName, withKafkaAdmin } from '../support/kafka.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';

/** For what a busy machine does late. */
const PATIENT = { timeoutMs: 90_000 };

type Entry = { readonly id: string; readonly data: Readonly<Record<string, unknown>> };

/** Starts one process per role on one database, with a content type `note`, its webhook and an API key. */
function useRoles(roles: readonly string[], extra: () => Readonly<Record<string, string>>) {
  const processes = new Map<string, ServiceProcess>();
  const directory = useDirectory();
  let receiver: WebhookReceiver | undefined;
  let content: Call;
  // Hooks run in the order of their registration: stop the processes before their database is dropped.
  after(async () => {
    await Promise.all([...processes.values()].map((process) => process.end('SIGKILL')));
    await receiver?.close();
  });
  const database = useDatabase();

  async function start(role: string): Promise<ServiceProcess> {
    const started = await startServiceProcess({
      ...testEnvironment(database.url(), directory()),
      ...extra(),
      SVC_ROLES: role,
    });
    processes.set(role, started);
    return started;
  }

  before(async () => {
    receiver = await startReceiver();
    const [first = '', ...others] = roles;
    // The first process migrates the database. The others would wait for it.
    const api = await start(first);
    await Promise.all(others.map(start));
    const admin = caller(() => api.adminUrl);
    const { token } = await setUpOwner(admin);
    const bearer = { authorization: `Bearer ${token}` };
    await admin(
      'POST',
      '/api/admin/schemas',
      { name: 'note', fields: [{ name: 'title', field_type: 'text' }] },
      bearer,
    );
    await admin(
      'POST',
      '/api/admin/webhooks',
      { name: 'all', url: receiver.url, events: ['after_create', 'after_update', 'after_delete'], schemas: ['note'] },
      bearer,
    );
    const { raw_key } = (
      await admin('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['content:*'] }, bearer)
    ).json<{ raw_key: string }>();
    content = caller(() => api.contentUrl, { 'x-api-key': raw_key });
  });
  return {
    database,
    start,
    process: (role: string) => {
      const found = processes.get(role);
      if (!found) throw new Error(`no process has the role ${role}`);
      return found;
    },
    receiver: () => {
      if (!receiver) throw new Error('the receiver is there inside tests and hooks only');
      return receiver;
    },
    content: ((method, path, body, headers) => content(method, path, body, headers)) as Call,
    /**
     * Creates an entry and checks that it is readable when it is acknowledged, although another process projects it.
     */
    async create(title: string): Promise<Entry> {
      const reply = await content('POST', '/api/v1/content/note', { data: { title } });
      expect(reply.status, reply.text).to.equal(201);
      expect(reply.headers['x-projection-lag']).to.equal(undefined);
      const entry = reply.json<Entry>();
      expect((await content('GET', `/api/v1/content/note/${entry.id}`)).json<Entry>().data).to.deep.equal({ title });
      return entry;
    },
  };
}

describe('separate roles with signals through Redis', function () {
  this.timeout(60_000);
  const redis = requireService('redis');
  const world = useRoles(['api', 'projector', 'worker'], () => ({ REDIS_URL: redis.address() }));

  it('make a created entry readable when it is acknowledged, and send its webhook', async () => {
    const entries = await Promise.all(Array.from({ length: 20 }, (_, n) => world.create(`entry ${n}`)));
    const requests = await world.receiver().waitFor(20);
    const told = requests.map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id);
    expect(new Set(told)).to.deep.equal(new Set(entries.map(({ id }) => id)));
  });

  it('exit with 0 on SIGTERM, without errors and warnings in the log', async () => {
    for (const role of ['worker', 'projector', 'api']) {
      const running = world.process(role);
      await running.end('SIGTERM');
      expect([role, await running.exited]).to.deep.equal([role, 0]);
      expect(
        running
          .output()
          .split('\n')
          .filter((line) => /"level":"(?:warn|error)"/.test(line)),
      ).to.deep.equal([]);
    }
  });
});

describe('separate roles through Kafka', function () {
  this.timeout(180_000);
  const kafka = requireService('kafka');
  const prefix = uniqueName('roles');
  const seen: ReceivedMessage[] = [];
  let bus: MessageBus | undefined;
  const world = useRoles(['api', 'projector', 'relay', 'worker'], () => ({
    KAFKA_BROKERS: kafka.address(),
    KAFKA_TOPIC_PREFIX: prefix,
  }));
  const of = (topic: string) => seen.filter((message) => message.topic === `${prefix}.${topic}`);

  before(async () => {
    bus = await openTestKafka({ brokers: kafka.address() });
    await bus.consume({
      topics: [`${prefix}.events.entry`, `${prefix}.content.changes`],
      group: uniqueName('group'),
      handler: (message) => Promise.resolve(void seen.push(message)),
    });
  });
  after(async () => {
    if (!bus) return;
    await bus.close();
    await deleteTopics(kafka.address(), prefix);
  });

  it('make a created entry readable when it is acknowledged, and send its webhook through the topics', async () => {
    const entry = await world.create('first');
    const [request] = await world.receiver().waitFor(1, 30_000);
    expect(JSON.parse(request?.body ?? '')).to.deep.include({
      event: 'after_create',
      schema: 'note',
      data: { id: entry.id, title: 'first' },
    });
    const names = await world.database.db().query<{ name: string }>('select name from operational.checkpoints');
    expect(names.map(({ name }) => name))
      .to.include('relay')
      .and.not.include('worker/webhooks');
  });

  it('publish events with CloudEvents headers and the stream as key, and whole entries before and after each change', async () => {
    const { id } = await world.create('old');
    const at = `/api/v1/content/note/${id}`;
    const updated = await world.content('PUT', at, { data: { title: 'new' } }, { 'x-correlation-id': 'of-the-caller' });
    expect(updated.status).to.equal(200);
    expect((await world.content('DELETE', at)).status).to.equal(204);
    const changes = await eventually(() => {
      const found = of('content.changes').filter(({ key }) => key === `default/${id}`);
      expect(found).to.have.length(4);
      return found;
    });
    expect(changes.at(-1)?.value, 'a deletion ends with a null value').to.equal(null);
    const values = changes.slice(0, 3).map(
      ({ value }) =>
        JSON.parse(value ?? '') as {
          event: string;
          version: number;
          tenant: string;
          data: Entry['data'] | null;
          old_data: Entry['data'] | null;
        },
    );
    expect(values.map(({ event, version }) => [event, version])).to.deep.equal([
      ['after_create', 1],
      ['after_update', 2],
      ['after_delete', 3],
    ]);
    const titles = values.map(({ data, old_data }) => [old_data?.['title'] ?? null, data?.['title'] ?? null]);
    expect(titles).to.deep.equal([
      [null, 'old'],
      ['old', 'new'],
      ['new', null],
    ]);

    const events = await eventually(() => {
      const found = of('events.entry').filter(({ key }) => key === `entry-default.${id}`);
      expect(found).to.have.length(3);
      return found;
    });
    expect(events.map(({ headers }) => headers['ce_type'])).to.deep.equal([
      'EntryCreated',
      'EntryFieldsChanged',
      'EntryDeleted',
    ]);
    for (const { headers, value } of events) {
      const event = JSON.parse(value ?? '') as { id: string; position: string; occurred_at: string };
      expect(headers).to.include({
        ce_specversion: '1.0',
        ce_id: event.id,
        ce_subject: `entry-default.${id}`,
        ce_time: event.occurred_at,
        tenant: 'default',
        schema_version: '1',
        'content-type': 'application/json',
      });
      expect(headers['ce_source']).to.be.a('string');
    }
    expect(events[1]?.headers['correlation_id']).to.equal('of-the-caller');
  });

  it('create the topics of every category, with compaction of content.changes', async () => {
    const [topics, policies] = await withKafkaAdmin(kafka.address(), async (admin) => {
      const described = await admin.describeConfigs({
        includeSynonyms: false,
        resources: ['content.changes', 'events.entry'].map((name) => ({
          type: ConfigResourceTypes.TOPIC,
          name: `${prefix}.${name}`,
          configNames: ['cleanup.policy'],
        })),
      });
      return [
        await admin.listTopics(),
        described.resources.map(({ configEntries }) => configEntries[0]?.configValue),
      ] as const;
    });
    for (const name of [
      'events.entry',
      'events.content_type',
      'events.user',
      'events.api_key',
      'events.webhook',
      'content.changes',
    ])
      expect(topics).to.include(`${prefix}.${name}`);
    expect(policies).to.deep.equal(['compact', 'delete']);
  });

  it('record every webhook once when the relay is killed five times between publishing and saving its checkpoint', async function () {
    this.timeout(400_000);
    const receiver = world.receiver();
    const sent = of('events.entry').length;
    const created: string[] = [];
    const blocker = await world.database.db().connect();
    for (let round = 0; round < 5; round += 1) {
      const barrier = await world.content('POST', '/api/v1/content/note', { data: { title: `barrier ${round}` } });
      created.push(barrier.json<Entry>().id);
      await eventually(async () => {
        const [relay] = await world.database
          .db()
          .query<{ position: string }>(`select position::text from operational.checkpoints where name = 'relay'`);
        expect(Number(relay?.position), 'the relay follows').to.be.at.least(
          Number(barrier.headers['x-commit-position']),
        );
      }, PATIENT);
      const before = of('events.entry').length;
      // The relay publishes, and blocks when it saves its checkpoint.
      await blocker.query('begin');
      await blocker.query(`select 1 from operational.checkpoints where name = 'relay' for update`);
      const replies = await Promise.all(
        Array.from({ length: 39 }, (_, n) =>
          world.content('POST', '/api/v1/content/note', { data: { title: `${round}/${n}` } }),
        ),
      );
      for (const reply of replies) {
        expect(reply.status).to.equal(201);
        created.push(reply.json<Entry>().id);
      }
      await eventually(() => {
        expect(of('events.entry').length).to.be.greaterThan(before);
      }, PATIENT);
      await world.process('relay').end('SIGKILL');
      await blocker.query('rollback');
      await world.start('relay');
    }
    await blocker.end();

    // Deliveries of earlier tests may arrive only now.
    const arrived = () =>
      receiver.requests
        .map(({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id)
        .filter((id) => created.includes(id));
    await eventually(() => {
      expect(new Set(arrived())).to.deep.equal(new Set(created));
    }, PATIENT);
    const repeated = of('events.entry').slice(sent);
    expect(repeated.length, 'the topic holds repeats').to.be.greaterThan(
      new Set(repeated.map(({ headers }) => headers['ce_id'])).size,
    );
    await eventually(async () => {
      const [row] = await world.database.db().query<{ recorded: number; events: number; queued: number }>(
        `select count(*)::int as recorded, count(distinct m.event_id)::int as events, (select count(*)::int from operational.webhook_queue) as queued
         from operational.webhook_attempts a join operational.webhook_messages m on m.id = a.message_id
         where a.status = 'success' and (m.body::jsonb -> 'data' ->> 'id') = any($1)`,
        [created],
      );
      expect(row).to.deep.equal({ recorded: 200, events: 200, queued: 0 });
    }, PATIENT);
    expect(arrived(), 'requests on the wire').to.have.length(200);
  });
});
