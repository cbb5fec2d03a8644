import { expect } from 'chai';
import { createWebhookQueue } from '../../../infrastructure/automation/webhook-queue.ts';
import { useDatabase } from '../../support/database.ts';

describe('the webhook queue', () => {
  const database = useDatabase();
  const id = '01a1f9a0-7405-749c-8f8a-52a0c74f5ad5';
  const addDelivery = (dueAt: string) =>
    database
      .db()
      .query(
        `insert into operational.webhook_queue (message_id, tenant_id, webhook_id, delivery_id, due_at) values ($1, 'default', $1, $1, ${dueAt})`,
        [id],
      );

  afterEach(() => database.db().query('truncate operational.webhook_queue'));

  it('returns no due time while it is empty', async () => {
    expect(await createWebhookQueue({ database: database.db() }).nextDue()).to.equal(undefined);
  });

  it('returns the milliseconds until the next delivery is due, and 0 when one is due', async () => {
    const queue = createWebhookQueue({ database: database.db() });
    await addDelivery(`now() + interval '10 seconds'`);
    expect(await queue.nextDue()).to.be.within(8_000, 10_000);
    await database.db().query('truncate operational.webhook_queue');
    await addDelivery(`now() - interval '1 second'`);
    expect(await queue.nextDue()).to.equal(0);
  });
});
