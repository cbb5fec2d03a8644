import { expect } from 'chai';
import { v7 } from 'uuid';
import type { RecordedEvent } from '../../../domain/event.ts';
import { openOutbound } from '../../../infrastructure/outbound/outbound.ts';
import { eventually } from '../../support/eventually.ts';
import { gate } from '../../support/gate.ts';
import { POLICY, type WebhookSetUp, created } from '../../support/webhook-set-up.ts';
import { useWebhooks } from './use-webhooks.ts';

const SECRET = 'a secret of 16+ characters';

describe('the webhook worker', () => {
  const { database, deliveries, receiver, recordedAll, records, setUp } = useWebhooks();

  describe('a delivery', () => {
    it('is recorded with status, duration and bodies when it succeeds', async () => {
      receiver().answer((_request, response) => response.writeHead(201).end('thanks'));
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker();
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({ title: 'one' })]));
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
      expect(row!.request_body).to.equal(receiver().requests[0]!.body);
      expect(row!.duration_ms).to.be.a('number');
      expect(row!.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(setUp().metrics.outcomes).to.deep.equal(['webhook success']);
    });

    it('is retried by the policy with a new signature and the same X-Webhook-Id, then becomes a dead letter with an event', async () => {
      receiver().answer((_request, response) => response.writeHead(500).end('no\0pe'));
      const webhook = await setUp().addWebhook({ url: receiver().url, secret: SECRET, name: 'orders' });
      const worker = setUp().worker();
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({ title: 'one' })]));
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
      const sent = receiver().requests.map(({ headers }) => headers);
      expect(sent.map((headers) => headers['x-webhook-attempt'])).to.deep.equal(['1', '2', '3']);
      expect(sent.map((headers) => headers['x-webhook-retry'])).to.deep.equal([undefined, 'true', 'true']);
      expect(new Set(sent.map((headers) => headers['x-webhook-id'])).size).to.equal(1);
      expect(new Set(sent.map((headers) => headers['x-webhook-nonce'])).size).to.equal(3);
      const [first, second, third] = receiver().requests.map(({ at }) => at);
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
      expect(letter!.request_body).to.equal(receiver().requests[0]!.body);
      await eventually(async () => {
        const events: RecordedEvent[] = [];
        for await (const event of setUp().eventStore.readAll({ filter: { types: ['WebhookDeliveryFailed'] } }))
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
      receiver().answer((_request, response) => response.writeHead(503, { 'retry-after': '120' }).end());
      const policy = { ...POLICY, max_delay_ms: 600_000 };
      const worker = setUp().worker({ policy });
      worker.start();
      await setUp().addWebhook({ url: receiver().url });
      await worker.handle(await setUp().entry(v7(), [created({ title: 'one' })]));
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
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker({ outbound: openOutbound() });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      const rows = await recordedAll(webhook, 3, ['failed', 'dead']);
      expect(rows[0]).to.include({ status: 'dead', status_code: null, error: 'address not allowed' });
      expect(receiver().requests).to.have.length(0);
    });

    it('fails with a timeout when the endpoint does not respond', async () => {
      receiver().answer(() => undefined);
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker({
        timeoutMs: 50,
        policy: { max_attempts: 1, base_delay_ms: 1, max_delay_ms: 1, strategy: 'fixed', enabled: true },
      });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      expect((await recordedAll(webhook, 1, ['dead']))[0]).to.include({ error: 'timeout', status_code: null });
    });

    it('counts no attempt when the fault is local', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      let faults = 2;
      const flaky = {
        ...setUp().outbound,
        send: (request: Parameters<WebhookSetUp['outbound']['send']>[0]) => {
          faults -= 1;
          return faults >= 0
            ? Promise.resolve({ kind: 'local_fault', error: 'no socket available', durationMs: 1 } as const)
            : setUp().outbound.send(request);
        },
      };
      const worker = setUp().worker({ outbound: flaky, dispatcher: { postponeMs: 10 } });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      const rows = await recordedAll(webhook, 1);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.include({ attempt_num: 1, status: 'success' });
    });

    it('is dropped when its webhook is deleted, and kept while its webhook is disabled', async () => {
      const deletedHook = await setUp().addWebhook({ url: `${receiver().url}/deleted` });
      const disabledHook = await setUp().addWebhook({ url: `${receiver().url}/off` });
      const worker = setUp().worker({ dispatcher: { postponeMs: 20 } });
      await worker.handle(await setUp().entry(v7(), [created({})]));
      await setUp().change(deletedHook, { type: 'WebhookDeleted', data: {} });
      await setUp().change(disabledHook, { type: 'WebhookChanged', data: { settings: { enabled: false } } });
      worker.start();
      await eventually(async () => {
        expect(await deliveries(deletedHook)).to.deep.equal([]);
      });
      expect((await deliveries(disabledHook))[0]).to.include({ status: 'pending', attempt_num: 1, status_code: null });
      await setUp().change(disabledHook, { type: 'WebhookChanged', data: { settings: { enabled: true } } });
      await recordedAll(disabledHook, 1);
      expect(receiver().requests.map(({ path }) => path)).to.deep.equal(['/off']);
    });

    it('is not delayed by a slow endpoint of another webhook', async () => {
      const held: (() => void)[] = [];
      receiver().answer((request, response) => {
        if (request.path === '/slow') held.push(() => response.writeHead(200).end());
        else response.writeHead(200).end();
      });
      await setUp().addWebhook({ url: `${receiver().url}/slow`, schemas: ['article'] });
      const fast = await setUp().addWebhook({ url: `${receiver().url}/fast`, schemas: ['page'] });
      const worker = setUp().worker({ timeoutMs: 8_000, dispatcher: { concurrency: 4, slowMs: 1 } });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      await receiver().waitFor(1);
      for (let n = 0; n < 10; n += 1) await worker.handle(await setUp().entry(v7(), [created({})]));
      await worker.handle(await setUp().entry(v7(), [created({}, 'page')]));
      await recordedAll(fast, 1);
      expect(held).to.have.length(1);
      for (const release of held) release();
      await worker.stop();
    });

    it('is skipped when the stream of its entry is deleted', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const id = v7();
      const events = await setUp().entry(id, [created({})]);
      await setUp().eventStore.deleteStream(`entry-default.${id}`, { expected: 'any', mode: 'tombstone' });
      await setUp()
        .worker()
        .handle([{ ...events[0]!, type: 'EntryDeleted' }, ...(await setUp().entry(v7(), [created({})]))]);
      expect(await deliveries(webhook)).to.have.length(1);
    });

    it('in flight is finished and recorded when the worker stops', async () => {
      const released = gate();
      receiver().answer((_request, response) => {
        void released.opened.then(() => response.writeHead(200).end());
      });
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker();
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      await receiver().waitFor(1);
      const stopped = worker.stop();
      released.open();
      await stopped;
      expect((await deliveries(webhook))[0]).to.include({ status: 'success' });
    });
  });
});
