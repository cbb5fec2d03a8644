import { expect } from 'chai';
import { type RecordedEvent, positionFrom } from '../../../domain/event.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { automationProjection } from '../../../projections/automation/projection.ts';
import { createWebhookQueries } from '../../../projections/automation/queries.ts';
import { useDatabase } from '../../support/database.ts';
import { recordedEvent } from '../../support/recorded-events.ts';
import { rejectionOf } from '../../support/rejection.ts';

const sealed = { $sealed: 1, k: 'k', n: 'n', c: 'c' };
const settings = {
  name: 'a',
  url: sealed,
  events: ['after_create'],
  schemas: [],
  enabled: true,
  headers: null,
  include_fields: [],
  exclude_fields: [],
  max_response_size: 1,
};
const target = { schema: '"rm_automation"' };
const id = (n: number) => `0192f0c0-0000-7000-8000-00000000000${n}`;

describe('the automation projection', () => {
  const database = useDatabase();
  let number = 0;

  const event = (webhook: number, type: string, data: JsonObject = {}, tenant = 'acme'): RecordedEvent => {
    number += 1;
    const base = recordedEvent({ number, type, stream: `webhook-${tenant}.${id(webhook)}`, data });
    return {
      ...base,
      metadata: { ...base.metadata, tenant, occurred_at: `2026-01-02T03:04:0${number % 10}.000Z` },
      position: positionFrom(number),
    };
  };
  async function fresh() {
    await database.db().transaction(async (tx) => {
      await tx.query('drop schema if exists rm_automation cascade');
      await tx.query('create schema rm_automation');
      await automationProjection.create(tx, target);
    });
  }
  const apply = (events: readonly RecordedEvent[]) =>
    database.db().transaction((tx) => automationProjection.apply(tx, target, events));
  const history = () => [
    event(1, 'WebhookCreated', { settings, secret: null }),
    event(2, 'WebhookCreated', { settings: { ...settings, name: 'two' }, secret: sealed }, 'beta'),
    event(1, 'WebhookChanged', { settings: { name: 'b', headers: sealed } }),
    event(1, 'WebhookSecretRotated', { secret: sealed }),
    event(3, 'WebhookCreated', { settings, secret: null }),
    event(3, 'WebhookDeleted'),
    event(3, 'WebhookDeliveryFailed', { webhook_id: id(3) }),
    event(1, 'WebhookChanged', { settings: { headers: null } }),
  ];

  it('produces the same rows with any batch size', async () => {
    const events = history();
    const results = [];
    for (const size of [1, 2, 3, events.length]) {
      await fresh();
      for (let at = 0; at < events.length; at += size) await apply(events.slice(at, at + size));
      results.push(await database.db().query('select w::text from rm_automation.webhooks w order by id'));
    }
    expect(new Set(results.map((rows) => JSON.stringify(rows))).size).to.equal(1);
    expect(results[0]).to.have.length(2);
  });

  it('returns webhooks by tenant', async () => {
    await fresh();
    await apply(history());
    const queries = createWebhookQueries({ database: database.db() });
    const [one, ...others] = await queries.list('acme');
    expect(others).to.deep.equal([]);
    expect(one).to.deep.include({
      id: id(1),
      name: 'b',
      headers: null,
      secret: sealed,
      url: sealed,
      events: ['after_create'],
    });
    expect(await queries.one('beta', id(1))).to.equal(undefined);
    expect(await queries.count('beta')).to.equal(1);
  });

  it('stops at an event that it cannot apply', async () => {
    await fresh();
    const errors = await Promise.all(
      [event(5, 'WebhookChanged', { settings: {} }), event(5, 'WebhookPainted')].map((bad) =>
        rejectionOf(apply([bad])),
      ),
    );
    for (const error of errors) expect(error).to.be.instanceOf(Error);
  });
});
