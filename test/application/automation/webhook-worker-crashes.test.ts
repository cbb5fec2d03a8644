import { expect } from 'chai';
import { v7 } from 'uuid';
import type { AttemptRecord } from '../../../application/ports/webhook-queue.ts';
import { createWebhookQueue } from '../../../infrastructure/automation/webhook-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { created } from '../../support/webhook-set-up.ts';
import { useWebhooks } from './use-webhooks.ts';

describe('the webhook worker', () => {
  const { database, deliveries, receiver, recordedAll, setUp } = useWebhooks();

  describe('that crashes or gets an event again', () => {
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

    it('queues an event once that is handled several times, also by another worker', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const events = await setUp().entry(v7(), [created({})]);
      const worker = setUp().worker();
      await Promise.all([worker.handle(events), worker.handle(events), setUp().worker().handle(events)]);
      worker.start();
      await recordedAll(webhook, 1);
      await worker.handle(events);
      await worker.stop();
      expect(receiver().requests).to.have.length(1);
      expect(await deliveries(webhook)).to.have.length(1);
    });

    it('queues deliveries in the transaction that commits, and none in one that is rolled back', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const events = await setUp().entry(v7(), [created({})]);
      const worker = setUp().worker();
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

    it('leaves deliveries that another worker sends when their reservations expire', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      const queue = createWebhookQueue({ database: database.db() });
      expect(await queue.reserve({ limit: 10, reservedMs: 150 })).to.have.length(1);
      expect(await queue.reserve({ limit: 10, reservedMs: 150 })).to.have.length(0);
      worker.start();
      await recordedAll(webhook, 1);
      expect(receiver().requests).to.have.length(1);
    });

    it('repeats a request that it had not recorded, and records the attempt once', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      const queue = createWebhookQueue({ database: database.db() });
      const [reserved] = await queue.reserve({ limit: 1, reservedMs: 50 });
      worker.start();
      await recordedAll(webhook, 1);
      const late = failedAttempt(reserved!.messageId, 0);
      expect(await queue.record([late])).to.deep.equal([]);
      expect(await deliveries(webhook)).to.have.length(1);
      expect(await queue.depth()).to.equal(0);
    });

    it('changes no delivery by a late record of an earlier attempt', async () => {
      const webhook = await setUp().addWebhook({ url: receiver().url });
      await setUp()
        .worker()
        .handle(await setUp().entry(v7(), [created({})]));
      const queue = createWebhookQueue({ database: database.db() });
      const [reserved] = await queue.reserve({ limit: 1, reservedMs: 1 });
      const attempt = failedAttempt(reserved!.messageId, 60_000);
      expect(await queue.record([attempt])).to.have.length(1);
      expect(await queue.record([{ ...attempt, status: 'success', next: undefined }])).to.have.length(0);
      expect((await deliveries(webhook)).map(({ status }) => status).toSorted()).to.deep.equal(['failed', 'pending']);
    });

    it('writes one event for a dead letter that is announced twice', async () => {
      receiver().answer((_request, response) => response.writeHead(500).end());
      const webhook = await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker({
        policy: { max_attempts: 1, base_delay_ms: 1, max_delay_ms: 1, strategy: 'fixed', enabled: true },
      });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
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
      setUp().worker().start();
      await eventually(async () => {
        expect(
          await database.db().query('select 1 from operational.webhook_dead_letters where announced_at is not null'),
        ).to.have.length(1);
      });
      let count = 0;
      for await (const event of setUp().eventStore.readAll({ filter: { types: ['WebhookDeliveryFailed'] } }))
        count += event.type === 'WebhookDeliveryFailed' ? 1 : 0;
      expect(count).to.equal(1);
    });
  });
});
