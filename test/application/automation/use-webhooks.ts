import { expect } from 'chai';
import { createWebhookRecords } from '../../../infrastructure/automation/webhook-records.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type WebhookReceiver, startReceiver } from '../../support/webhook-receiver.ts';
import { type WebhookSetUp, webhookSetUp } from '../../support/webhook-set-up.ts';

/** A fresh set-up of the webhook module and a receiver of its requests for each test of the enclosing `describe`. */
export function useWebhooks() {
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

  const records = () => createWebhookRecords({ database: database.db() });
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

  return {
    database,
    setUp: () => setUp,
    receiver: () => receiver,
    records,
    /** The recorded attempts of a webhook. */
    deliveries,
    /** The parsed bodies of the requests that the receiver got. */
    bodies,
    /** Waits until `count` attempts of a webhook are recorded with one of the statuses. @returns all its attempts */
    recordedAll,
  };
}
