import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { sweepDeadLetters } from '../../infrastructure/automation/sweep-dead-letters.ts';
import { sweepWebhookRecords } from '../../infrastructure/automation/sweep-webhook-records.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { sweepApiKeyRequests } from '../../infrastructure/identity/sweep-api-key-requests.ts';
import { useDatabase } from '../support/database.ts';
import { testEnvironment } from '../support/service.ts';

describe('retention', () => {
  const database = useDatabase();
  const webhook = randomUUID();

  async function message({
    days,
    attemptDays = days,
  }: {
    readonly days: number;
    readonly attemptDays?: number;
  }): Promise<string> {
    const id = randomUUID();
    const db = database.db();
    await db.execute(
      `insert into operational.webhook_messages (id, tenant_id, webhook_id, event_id, event, schema, body, created_at) values ($1, 'default', $2, $3, 'after_create', 'note', '{}', now() - make_interval(days => $4))`,
      [id, webhook, randomUUID(), days],
    );
    await db.execute(
      `insert into operational.webhook_attempts (id, tenant_id, webhook_id, message_id, attempt_num, status, duration_ms, created_at) values ($1, 'default', $2, $3, 1, 'success', 5, now() - make_interval(days => $4))`,
      [randomUUID(), webhook, id, attemptDays],
    );
    return id;
  }
  async function deadLetter(messageId: string, status: string): Promise<void> {
    await database
      .db()
      .execute(
        `insert into operational.webhook_dead_letters (id, tenant_id, webhook_id, webhook_name, message_id, event, schema, request_body, total_attempts, status, created_at) values ($1, 'default', $2, 'w', $3, 'after_create', 'note', '{}', 5, $4, now() - interval '90 days')`,
        [randomUUID(), webhook, messageId, status],
      );
  }
  const messages = async () =>
    (await database.db().query<{ id: string }>('select id from operational.webhook_messages')).map(({ id }) => id);
  const attempts = async () =>
    (await database.db().query<{ id: string }>('select message_id as id from operational.webhook_attempts')).map(
      ({ id }) => id,
    );

  it('deletes old webhook deliveries in batches, and keeps queued, replayable and recently retried ones', async () => {
    const kept = [await message({ days: 29 }), await message({ days: 90, attemptDays: 2 })];
    for (let n = 0; n < 7; n += 1) await message({ days: 31 });
    const queued = await message({ days: 31 });
    await database
      .db()
      .execute(
        `insert into operational.webhook_queue (message_id, tenant_id, webhook_id, delivery_id) values ($1, 'default', $2, $3)`,
        [queued, webhook, randomUUID()],
      );
    const pending = await message({ days: 90 });
    await deadLetter(pending, 'pending');
    await deadLetter(await message({ days: 90 }), 'dismissed');
    expect(await sweepWebhookRecords({ retentionDays: 0 }, { database: database.db() })).to.equal(0);
    expect(await sweepWebhookRecords({ retentionDays: -1 }, { database: database.db() })).to.equal(0);
    expect(await sweepWebhookRecords({ retentionDays: 30, batchSize: 3 }, { database: database.db() })).to.equal(8);
    expect(await messages()).to.have.members([...kept, queued, pending]);
    expect(await attempts()).to.have.members([...kept, queued, pending]);
  });

  it('deletes old dead letters and dead events in batches, and keeps dead letters whose event is not appended yet', async () => {
    const db = database.db();
    await db.execute('truncate operational.webhook_dead_letters');
    for (const status of ['pending', 'replayed', 'dismissed']) await deadLetter(randomUUID(), status);
    await db.execute('update operational.webhook_dead_letters set announced_at = now()');
    await deadLetter(randomUUID(), 'pending');
    await db.execute(
      `insert into operational.dead_events (worker, event_id, tenant_id, topic, position, reason, attempts, first_seen, parked_at)
       select 'webhooks', gen_random_uuid(), 'default', 't', '0', 'r', 5, now(), now() - make_interval(days => n) from generate_series(1, 10) n`,
    );
    expect(await sweepDeadLetters({ letterDays: 0, eventDays: -1 }, { database: db })).to.equal(0);
    expect(await sweepDeadLetters({ letterDays: 91, eventDays: 11 }, { database: db })).to.equal(0);
    expect(await sweepDeadLetters({ letterDays: 60, eventDays: 5, batchSize: 2 }, { database: db })).to.equal(3 + 6);
    expect(await db.query('select from operational.webhook_dead_letters')).to.have.length(1);
    expect(await db.query('select from operational.dead_events')).to.have.length(4);
  });

  it('deletes old requests of API keys in batches; 0 or less keeps them forever', async () => {
    const db = database.db();
    await db.execute(
      `insert into operational.api_key_requests (tenant_id, key_id, id, at, method, path, status, ip, bytes_in, bytes_out)
       select 'default', $1, gen_random_uuid(), now() - make_interval(days => n), 'GET', '/', 200, '{}', 0, 0 from generate_series(1, 20) n`,
      [randomUUID()],
    );
    expect(await sweepApiKeyRequests({ retentionDays: 0 }, { database: db })).to.equal(0);
    expect(await sweepApiKeyRequests({ retentionDays: -5 }, { database: db })).to.equal(0);
    expect(await sweepApiKeyRequests({ retentionDays: 9, batchSize: 4 }, { database: db })).to.be.within(11, 12);
    expect(await db.query('select 1 from operational.api_key_requests')).to.have.length.within(8, 9);
  });

  it('is a number of days; a value that is not a whole number is replaced by the default', () => {
    const of = (environment: Record<string, string>) => {
      const { settings } = loadSettings([
        environmentLayer({ ...testEnvironment('postgres://localhost/x', '/nowhere'), ...environment }),
      ]);
      return [settings.apiKeyRetentionDays, settings.webhookDeliveryRetentionDays];
    };
    expect(of({})).to.deep.equal([365, 30]);
    expect(of({ APIKEY_RETENTION_DAYS: '-1', WEBHOOK_DELIVERY_RETENTION_DAYS: '0' })).to.deep.equal([-1, 0]);
    expect(of({ APIKEY_RETENTION_DAYS: '1.5', WEBHOOK_DELIVERY_RETENTION_DAYS: 'soon' })).to.deep.equal([365, 30]);
  });
});
