import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import type { AttemptRecord } from '../../../application/ports/webhook-queue.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { createPostgresWebhookQueue } from '../../../infrastructure/automation/postgres-webhook-queue.ts';
import { createPostgresWebhookRecords } from '../../../infrastructure/automation/postgres-webhook-records.ts';
import { createOutbound } from '../../../infrastructure/outbound/outbound.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type WebhookReceiver, startReceiver } from '../../support/webhook-receiver.ts';
import { POLICY, type WebhookSetUp, changed, created, deleted, published, webhookSetUp } from './webhook-set-up.ts';

const SECRET = 'a secret of 16+ characters';

describe('the webhook worker', () => {
  const database = useDatabase();
  let setUp: WebhookSetUp;
  let receiver: WebhookReceiver;

  beforeEach(async () => {
    await database.db().query('drop schema if exists rm_automation cascade');
    await database
      .db()
      .query(
        'truncate operational.webhook_messages, operational.webhook_queue, operational.webhook_attempts, operational.webhook_dead_letters',
      );
    setUp = await webhookSetUp(database.db());
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await setUp.close();
    await receiver.close();
  });

  const records = () => createPostgresWebhookRecords({ database: database.db() });
  const deliveries = (webhookId: string, tenant = 'default') =>
    records().deliveries({ tenant, webhookId, limit: 500, offset: 0 });
  const bodies = () =>
    receiver.requests.map(
      ({ body }) =>
        JSON.parse(body) as {
          event: string;
          schema: string;
          data: Record<string, unknown>;
          old_data?: Record<string, unknown>;
          timestamp: string;
        },
    );
  const recordedAll = (webhookId: string, count: number, statuses = ['success']) =>
    eventually(async () => {
      const rows = await deliveries(webhookId);
      expect(rows.filter(({ status }) => statuses.includes(status))).to.have.length(count);
      return rows;
    });

  describe('a request', () => {
    it('contains the entry after a creation, before and after an update, and before a deletion', async () => {
      await setUp.addWebhook({ url: receiver.url });
      const id = v7();
      const events = await setUp.entry(id, [
        created({ title: 'one' }),
        changed({ title: 'two' }),
        published(),
        deleted(),
      ]);
      const worker = setUp.worker({ dispatcher: { concurrency: 1 } });
      await worker.handle(events);
      worker.start();
      await receiver.waitFor(4);
      const byTime = bodies().toSorted((a, b) =>
        a.event === 'after_delete' ? 1 : b.event === 'after_delete' ? -1 : 0,
      );
      const base = { id, slug: 'a-slug' };
      expect(byTime.filter(({ event }) => event === 'after_create')).to.deep.equal([
        {
          event: 'after_create',
          schema: 'article',
          data: { ...base, title: 'one', status: 'draft' },
          timestamp: events[0]!.metadata.occurred_at,
        },
      ]);
      expect(byTime.filter(({ event }) => event === 'after_update')).to.deep.include({
        event: 'after_update',
        schema: 'article',
        data: { ...base, title: 'two', status: 'published' },
        old_data: { ...base, title: 'two', status: 'draft' },
        timestamp: events[2]!.metadata.occurred_at,
      });
      expect(byTime.at(-1)).to.deep.equal({
        event: 'after_delete',
        schema: 'article',
        data: { ...base, title: 'two', status: 'published' },
        timestamp: events[3]!.metadata.occurred_at,
      });
    });

    it('omits the status when the content type has none', async () => {
      await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker({ hasStatus: () => false });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({ title: 'one' })]));
      await receiver.waitFor(1);
      expect(bodies()[0]!.data).to.have.keys('id', 'slug', 'title');
    });

    it('contains the fields of the field lists in data, and all fields in old_data', async () => {
      await setUp.addWebhook({ url: `${receiver.url}/in`, include_fields: ['title'] });
      await setUp.addWebhook({ url: `${receiver.url}/ex`, exclude_fields: ['title', 'slug', 'status'] });
      const id = v7();
      const worker = setUp.worker();
      worker.start();
      await worker.handle(
        (await setUp.entry(id, [created({ title: 'one', body: 'x' }), changed({ title: 'two' })])).slice(1),
      );
      await receiver.waitFor(2);
      const of = (path: string) => bodies()[receiver.requests.findIndex((request) => request.path === path)]!;
      expect(of('/in').data).to.deep.equal({ title: 'two' });
      expect(of('/ex').data).to.deep.equal({ id, body: 'x' });
      expect(of('/in').old_data).to.deep.equal({ id, title: 'one', body: 'x', slug: 'a-slug', status: 'draft' });
    });

    it('is signed with HMAC-SHA256 over timestamp, nonce and body', async () => {
      await setUp.addWebhook({ url: receiver.url, secret: SECRET, headers: { 'X-Api-Key': 'customer' } });
      const worker = setUp.worker();
      worker.start();
      const [event] = await setUp.entry(v7(), [created({ title: 'ünïcode ✓' })]);
      await worker.handle([event!]);
      const [request] = await receiver.waitFor(1);
      const { headers, body, method } = request!;
      expect(method).to.equal('POST');
      const expected = createHmac('sha256', Buffer.from(SECRET, 'utf8'))
        .update(Buffer.from(`${String(headers['x-webhook-timestamp'])}.${String(headers['x-webhook-nonce'])}.`))
        .update(Buffer.from(body, 'utf8'))
        .digest('hex');
      expect(headers).to.include({
        'content-type': 'application/json',
        'x-webhook-event': 'after_create',
        'x-webhook-schema': 'article',
        'x-webhook-algorithm': 'sha256',
        'x-webhook-signature': `sha256=${expected}`,
        'x-webhook-attempt': '1',
        'x-api-key': 'customer',
      });
      expect(headers['x-webhook-nonce']).to.match(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      expect(Number(headers['x-webhook-timestamp'])).to.be.closeTo(Date.now() / 1000, 5);
      expect(headers).not.to.have.any.keys('x-webhook-retry', 'x-webhook-replay');
    });

    it('is not signed without a secret', async () => {
      await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker();
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      const [request] = await receiver.waitFor(1);
      expect(request!.headers).not.to.have.any.keys(
        'x-webhook-signature',
        'x-webhook-timestamp',
        'x-webhook-nonce',
        'x-webhook-algorithm',
      );
    });
  });

  describe('an event fires', () => {
    async function fired(events: readonly RecordedEvent[]): Promise<readonly string[]> {
      const worker = setUp.worker();
      worker.start();
      await worker.handle(events);
      await setUp.addWebhook({ url: `${receiver.url}/last`, events: ['after_create'] });
      await worker.handle(await setUp.entry(v7(), [created({})]));
      await eventually(() => {
        expect(receiver.requests.map(({ path }) => path)).to.include('/last');
      });
      await worker.stop();
      return receiver.requests.map(({ path }) => path).filter((path) => path !== '/last' && path !== '/any');
    }

    it('the enabled webhooks of its tenant that subscribe to the event and the content type', async () => {
      await setUp.addWebhook({ url: `${receiver.url}/match`, events: ['after_update'], schemas: ['article'] });
      await setUp.addWebhook({ url: `${receiver.url}/none`, events: [] });
      await setUp.addWebhook({ url: `${receiver.url}/other-type`, events: ['after_update'], schemas: ['page'] });
      await setUp.addWebhook({ url: `${receiver.url}/off`, events: ['after_update'], enabled: false });
      await setUp.addWebhook({ url: `${receiver.url}/other-tenant`, tenant: 'acme' });
      expect(await fired((await setUp.entry(v7(), [created({}), changed({ title: 'x' })])).slice(1))).to.deep.equal([
        '/match',
      ]);
    });

    it('for a change of a content type the webhooks without schemas, as sys_schemas', async () => {
      await setUp.addWebhook({ url: `${receiver.url}/all`, events: ['after_create', 'after_delete'] });
      await setUp.addWebhook({ url: `${receiver.url}/article`, schemas: ['article'] });
      const saved = {
        type: 'ContentTypeSaved',
        data: { type_id: 'x', definition: { name: 'article', fields: [] }, statements: [], canceled: [], retained: [] },
      };
      const stream = `content_type-default.${v7()}`;
      const events = await setUp.append(stream, [
        saved,
        saved,
        { type: 'ContentTypeDeleted', data: { type_id: 'x', name: 'article', content: 'hard' } },
      ]);
      const worker = setUp.worker();
      worker.start();
      await worker.handle(events);
      await receiver.waitFor(3);
      await worker.stop();
      expect(receiver.requests.map(({ path }) => path)).to.deep.equal(['/all', '/all', '/all']);
      expect(bodies().map(({ event, schema, data }) => ({ event, schema, data }))).to.have.deep.members([
        { event: 'after_create', schema: 'sys_schemas', data: { name: 'article', action: 'created' } },
        { event: 'after_create', schema: 'sys_schemas', data: { name: 'article', action: 'updated' } },
        { event: 'after_delete', schema: 'sys_schemas', data: { name: 'article', action: 'deleted' } },
      ]);
    });
  });

  describe('a delivery', () => {
    it('is recorded with status, duration and bodies when it succeeds', async () => {
      receiver.answer((_request, response) => response.writeHead(201).end('thanks'));
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker();
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({ title: 'one' })]));
      const [row] = await recordedAll(webhook, 1);
      expect(row).to.include({
        webhook_id: webhook,
        event: 'after_create',
        schema: 'article',
        status: 'success',
        status_code: 201,
        response_body: 'thanks',
        retry_count: 0,
        attempt_num: 1,
        error: null,
      });
      expect(row!.request_body).to.equal(receiver.requests[0]!.body);
      expect(row!.duration_ms).to.be.a('number');
      expect(row!.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(setUp.metrics.outcomes).to.deep.equal(['webhook success']);
    });

    it('is retried by the policy with a new signature and the same X-Webhook-Id, then becomes a dead letter with an event', async () => {
      receiver.answer((_request, response) => response.writeHead(500).end('no\0pe'));
      const webhook = await setUp.addWebhook({ url: receiver.url, secret: SECRET, name: 'orders' });
      const worker = setUp.worker();
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({ title: 'one' })]));
      const rows = await recordedAll(webhook, 3, ['failed', 'dead']);
      expect(
        rows.map(({ attempt_num, retry_count, status, status_code, error }) => ({
          attempt_num,
          retry_count,
          status,
          status_code,
          error,
        })),
      ).to.deep.equal([
        { attempt_num: 3, retry_count: 2, status: 'dead', status_code: 500, error: 'the endpoint answered 500' },
        { attempt_num: 2, retry_count: 1, status: 'failed', status_code: 500, error: 'the endpoint answered 500' },
        { attempt_num: 1, retry_count: 0, status: 'failed', status_code: 500, error: 'the endpoint answered 500' },
      ]);
      const sent = receiver.requests.map(({ headers }) => headers);
      expect(sent.map((headers) => headers['x-webhook-attempt'])).to.deep.equal(['1', '2', '3']);
      expect(sent.map((headers) => headers['x-webhook-retry'])).to.deep.equal([undefined, 'true', 'true']);
      expect(new Set(sent.map((headers) => headers['x-webhook-id'])).size).to.equal(1);
      expect(new Set(sent.map((headers) => headers['x-webhook-nonce'])).size).to.equal(3);
      const [first, second, third] = receiver.requests.map(({ at }) => at);
      expect(second! - first!).to.be.at.least(19);
      expect(third! - second!).to.be.at.least(39);

      const [letter, ...others] = await records().deadLetters({ tenant: 'default', limit: 50, offset: 0 });
      expect(others).to.have.length(0);
      expect(letter).to.include({
        webhook_id: webhook,
        webhook_name: 'orders',
        event: 'after_create',
        schema: 'article',
        last_status_code: 500,
        last_error: 'the endpoint answered 500',
        total_attempts: 3,
        status: 'pending',
      });
      expect(letter!.request_body).to.equal(receiver.requests[0]!.body);
      await eventually(async () => {
        const events: RecordedEvent[] = [];
        for await (const event of setUp.eventStore.readAll({ filter: { types: ['WebhookDeliveryFailed'] } }))
          events.push(event);
        expect(events.map(({ data }) => data)).to.deep.equal([
          {
            webhook_id: webhook,
            webhook_name: 'orders',
            dead_letter_id: letter!.id,
            event_type: 'after_create',
            schema: 'article',
            total_attempts: 3,
            last_status_code: 500,
          },
        ]);
      });
      expect(await records().deadLetters({ tenant: 'acme', limit: 50, offset: 0 })).to.deep.equal([]);
      expect(await records().deadLetter('acme', letter!.id)).to.equal(undefined);
    });

    it('is retried after the Retry-After of the response', async () => {
      receiver.answer((_request, response) => response.writeHead(503, { 'retry-after': '120' }).end());
      const policy = { ...POLICY, max_delay_ms: 600_000 };
      const worker = setUp.worker({ policy });
      worker.start();
      await setUp.addWebhook({ url: receiver.url });
      await worker.handle(await setUp.entry(v7(), [created({ title: 'one' })]));
      const [row] = await eventually(async () => {
        const rows = await database
          .db()
          .query<{ attempt: number; wait: number }>(
            'select attempt, extract(epoch from due_at - now())::float8 as wait from operational.webhook_queue where attempt = 2',
          );
        expect(rows).to.have.length(1);
        return rows;
      });
      expect(row?.wait).to.be.within(100, 120);
      await worker.stop();
    });

    it('counts an attempt without a status when the address is refused', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker({ outbound: createOutbound() });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      const rows = await recordedAll(webhook, 3, ['failed', 'dead']);
      expect(rows[0]).to.include({ status: 'dead', status_code: null, error: 'address not allowed' });
      expect(receiver.requests).to.have.length(0);
    });

    it('fails with a timeout when the endpoint does not respond', async () => {
      receiver.answer(() => undefined);
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker({
        timeoutMs: 50,
        policy: { max_attempts: 1, base_delay_ms: 1, max_delay_ms: 1, strategy: 'fixed', enabled: true },
      });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      expect((await recordedAll(webhook, 1, ['dead']))[0]).to.include({ error: 'timeout', status_code: null });
    });

    it('counts no attempt when the fault is local', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      let faults = 2;
      const flaky = {
        ...setUp.outbound,
        send: (request: Parameters<typeof setUp.outbound.send>[0]) => {
          faults -= 1;
          return faults >= 0
            ? Promise.resolve({ kind: 'local_fault', error: 'no socket available', durationMs: 1 } as const)
            : setUp.outbound.send(request);
        },
      };
      const worker = setUp.worker({ outbound: flaky, dispatcher: { postponeMs: 10 } });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      const rows = await recordedAll(webhook, 1);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ attempt_num: 1, status: 'success' });
    });

    it('is dropped when its webhook is deleted, and kept while its webhook is disabled', async () => {
      const deletedHook = await setUp.addWebhook({ url: `${receiver.url}/deleted` });
      const disabledHook = await setUp.addWebhook({ url: `${receiver.url}/off` });
      const worker = setUp.worker({ dispatcher: { postponeMs: 20 } });
      await worker.handle(await setUp.entry(v7(), [created({})]));
      await setUp.change(deletedHook, { type: 'WebhookDeleted', data: {} });
      await setUp.change(disabledHook, { type: 'WebhookChanged', data: { settings: { enabled: false } } });
      worker.start();
      await eventually(async () => {
        expect(await deliveries(deletedHook)).to.deep.equal([]);
      });
      expect((await deliveries(disabledHook))[0]).to.include({ status: 'pending', attempt_num: 1, status_code: null });
      await setUp.change(disabledHook, { type: 'WebhookChanged', data: { settings: { enabled: true } } });
      await recordedAll(disabledHook, 1);
      expect(receiver.requests.map(({ path }) => path)).to.deep.equal(['/off']);
    });

    it('is not delayed by a slow endpoint of another webhook', async () => {
      const held: (() => void)[] = [];
      receiver.answer((request, response) => {
        if (request.path === '/slow') held.push(() => response.writeHead(200).end());
        else response.writeHead(200).end();
      });
      await setUp.addWebhook({ url: `${receiver.url}/slow`, schemas: ['article'] });
      const fast = await setUp.addWebhook({ url: `${receiver.url}/fast`, schemas: ['page'] });
      const worker = setUp.worker({ timeoutMs: 8_000, dispatcher: { concurrency: 4, slowMs: 1 } });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      await receiver.waitFor(1);
      for (let n = 0; n < 10; n += 1) await worker.handle(await setUp.entry(v7(), [created({})]));
      await worker.handle(await setUp.entry(v7(), [created({}, 'page')]));
      await recordedAll(fast, 1);
      expect(held).to.have.length(1);
      for (const release of held) release();
      await worker.stop();
    });

    it('is skipped when the stream of its entry is deleted', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const id = v7();
      const events = await setUp.entry(id, [created({})]);
      await setUp.eventStore.deleteStream(`entry-default.${id}`, { expected: 'any', mode: 'tombstone' });
      await setUp
        .worker()
        .handle([{ ...events[0]!, type: 'EntryDeleted' }, ...(await setUp.entry(v7(), [created({})]))]);
      expect(await deliveries(webhook)).to.have.length(1);
    });

    it('in flight is finished and recorded when the worker stops', async () => {
      let release: (() => void) | undefined;
      receiver.answer((_request, response) => {
        release = () => response.writeHead(200).end();
      });
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker();
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      await receiver.waitFor(1);
      const stopped = worker.stop();
      release!();
      await stopped;
      expect((await deliveries(webhook))[0]).to.include({ status: 'success' });
    });
  });

  describe('after a crash or a repeated event', () => {
    const failedAttempt = (messageId: string, delayMs: number): AttemptRecord => ({
      messageId,
      attempt: 1,
      status: 'failed',
      statusCode: 500,
      durationMs: 1,
      responseBody: undefined,
      error: 'the endpoint answered 500',
      at: new Date(),
      next: { deliveryId: v7(), delayMs },
      deadLetter: undefined,
    });

    it('an event that is handled several times, also by another worker, is queued once', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const events = await setUp.entry(v7(), [created({})]);
      const worker = setUp.worker();
      await Promise.all([worker.handle(events), worker.handle(events), setUp.worker().handle(events)]);
      worker.start();
      await recordedAll(webhook, 1);
      await worker.handle(events);
      await worker.stop();
      expect(receiver.requests).to.have.length(1);
      expect(await deliveries(webhook)).to.have.length(1);
    });

    it('a committed transaction queues deliveries, and a rolled back one does not', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const events = await setUp.entry(v7(), [created({})]);
      const worker = setUp.worker();
      worker.start();
      await database
        .db()
        .transaction(async (tx) => {
          await worker.handle(events, tx);
          throw new Error('roll back');
        })
        .catch(() => undefined);
      expect(await deliveries(webhook)).to.deep.equal([]);
      await database.db().transaction((tx) => worker.handle(events, tx));
      worker.wake();
      await recordedAll(webhook, 1);
    });

    it('another worker sends the deliveries of a crashed worker when their claims expire', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      const queue = createPostgresWebhookQueue({ database: database.db() });
      expect(await queue.claim({ limit: 10, leaseMs: 150 })).to.have.length(1);
      expect(await queue.claim({ limit: 10, leaseMs: 150 })).to.have.length(0);
      worker.start();
      await recordedAll(webhook, 1);
      expect(receiver.requests).to.have.length(1);
    });

    it('a request is repeated when the worker crashed before recording it, and the attempt is recorded once', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      const queue = createPostgresWebhookQueue({ database: database.db() });
      const [claimed] = await queue.claim({ limit: 1, leaseMs: 50 });
      worker.start();
      await recordedAll(webhook, 1);
      const late = failedAttempt(claimed!.messageId, 0);
      expect(await queue.record([late])).to.deep.equal([]);
      expect(await deliveries(webhook)).to.have.length(1);
      expect(await queue.depth()).to.equal(0);
    });

    it('a late record of an earlier attempt does not change a delivery', async () => {
      const webhook = await setUp.addWebhook({ url: receiver.url });
      await setUp.worker().handle(await setUp.entry(v7(), [created({})]));
      const queue = createPostgresWebhookQueue({ database: database.db() });
      const [claimed] = await queue.claim({ limit: 1, leaseMs: 1 });
      const attempt = failedAttempt(claimed!.messageId, 60_000);
      expect(await queue.record([attempt])).to.have.length(1);
      expect(await queue.record([{ ...attempt, status: 'success', next: undefined }])).to.have.length(0);
      expect((await deliveries(webhook)).map(({ status }) => status).toSorted()).to.deep.equal(['failed', 'pending']);
    });

    it('a dead letter that is announced twice has one event', async () => {
      receiver.answer((_request, response) => response.writeHead(500).end());
      const webhook = await setUp.addWebhook({ url: receiver.url });
      const worker = setUp.worker({
        policy: { max_attempts: 1, base_delay_ms: 1, max_delay_ms: 1, strategy: 'fixed', enabled: true },
      });
      worker.start();
      await worker.handle(await setUp.entry(v7(), [created({})]));
      await recordedAll(webhook, 1, ['dead']);
      await eventually(async () => {
        expect(
          await database.db().query('select 1 from operational.webhook_dead_letters where announced_at is not null'),
        ).to.have.length(1);
      });
      await database
        .db()
        .query(
          "update operational.webhook_dead_letters set announced_at = null, announce_after = now() - interval '1 second'",
        );
      setUp.worker().start();
      await eventually(async () => {
        expect(
          await database.db().query('select 1 from operational.webhook_dead_letters where announced_at is not null'),
        ).to.have.length(1);
      });
      let count = 0;
      for await (const event of setUp.eventStore.readAll({ filter: { types: ['WebhookDeliveryFailed'] } }))
        count += event.type === 'WebhookDeliveryFailed' ? 1 : 0;
      expect(count).to.equal(1);
    });
  });
});
