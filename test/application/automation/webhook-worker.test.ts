import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import type { RecordedEvent } from '../../../domain/event.ts';
import { eventually } from '../../support/eventually.ts';
import { changed, created, deleted, published } from '../../support/webhook-set-up.ts';
import { useWebhooks } from './use-webhooks.ts';

const SECRET = 'a secret of 16+ characters';

describe('the webhook worker', () => {
  const { bodies, receiver, setUp } = useWebhooks();

  describe('a request', () => {
    it('contains the entry after a creation, before and after an update, and before a deletion', async () => {
      await setUp().addWebhook({ url: receiver().url });
      const id = v7();
      const events = await setUp().entry(id, [
        created({ title: 'one' }),
        changed({ title: 'two' }),
        published(),
        deleted(),
      ]);
      const worker = setUp().worker({ dispatcher: { concurrency: 1 } });
      await worker.handle(events);
      worker.start();
      await receiver().waitFor(4);
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
      await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker({ hasStatus: () => false });
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({ title: 'one' })]));
      await receiver().waitFor(1);
      expect(bodies()[0]!.data).to.have.keys('id', 'slug', 'title');
    });

    it('contains the fields of the field lists in data, and all fields in old_data', async () => {
      await setUp().addWebhook({ url: `${receiver().url}/in`, include_fields: ['title'] });
      await setUp().addWebhook({ url: `${receiver().url}/ex`, exclude_fields: ['title', 'slug', 'status'] });
      const id = v7();
      const worker = setUp().worker();
      worker.start();
      await worker.handle(
        (await setUp().entry(id, [created({ title: 'one', body: 'x' }), changed({ title: 'two' })])).slice(1),
      );
      await receiver().waitFor(2);
      const of = (path: string) => bodies()[receiver().requests.findIndex((request) => request.path === path)]!;
      expect(of('/in').data).to.deep.equal({ title: 'two' });
      expect(of('/ex').data).to.deep.equal({ id, body: 'x' });
      expect(of('/in').old_data).to.deep.equal({ id, title: 'one', body: 'x', slug: 'a-slug', status: 'draft' });
    });

    it('is signed with HMAC-SHA256 over timestamp, nonce and body', async () => {
      await setUp().addWebhook({ url: receiver().url, secret: SECRET, headers: { 'X-Api-Key': 'customer' } });
      const worker = setUp().worker();
      worker.start();
      const [event] = await setUp().entry(v7(), [created({ title: 'ünïcode ✓' })]);
      await worker.handle([event!]);
      const [request] = await receiver().waitFor(1);
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
      await setUp().addWebhook({ url: receiver().url });
      const worker = setUp().worker();
      worker.start();
      await worker.handle(await setUp().entry(v7(), [created({})]));
      const [request] = await receiver().waitFor(1);
      expect(request!.headers).not.to.have.any.keys(
        'x-webhook-signature',
        'x-webhook-timestamp',
        'x-webhook-nonce',
        'x-webhook-algorithm',
      );
    });
  });

  describe('an event', () => {
    async function fired(events: readonly RecordedEvent[]): Promise<readonly string[]> {
      const worker = setUp().worker();
      worker.start();
      await worker.handle(events);
      await setUp().addWebhook({ url: `${receiver().url}/last`, events: ['after_create'] });
      await worker.handle(await setUp().entry(v7(), [created({})]));
      await eventually(() => {
        expect(receiver().requests.map(({ path }) => path)).to.include('/last');
      });
      await worker.stop();
      return receiver()
        .requests.map(({ path }) => path)
        .filter((path) => path !== '/last' && path !== '/any');
    }

    it('fires the enabled webhooks of its tenant that subscribe to the event and the content type', async () => {
      await setUp().addWebhook({ url: `${receiver().url}/match`, events: ['after_update'], schemas: ['article'] });
      await setUp().addWebhook({ url: `${receiver().url}/none`, events: [] });
      await setUp().addWebhook({ url: `${receiver().url}/other-type`, events: ['after_update'], schemas: ['page'] });
      await setUp().addWebhook({ url: `${receiver().url}/off`, events: ['after_update'], enabled: false });
      await setUp().addWebhook({ url: `${receiver().url}/other-tenant`, tenant: 'acme' });
      expect(await fired((await setUp().entry(v7(), [created({}), changed({ title: 'x' })])).slice(1))).to.deep.equal([
        '/match',
      ]);
    });

    it('of a content type fires the webhooks without schemas, as sys_schemas', async () => {
      await setUp().addWebhook({ url: `${receiver().url}/all`, events: ['after_create', 'after_delete'] });
      await setUp().addWebhook({ url: `${receiver().url}/article`, schemas: ['article'] });
      const saved = {
        type: 'ContentTypeSaved',
        data: { type_id: 'x', definition: { name: 'article', fields: [] }, statements: [], canceled: [], retained: [] },
      };
      const stream = `content_type-default.${v7()}`;
      const events = await setUp().append(stream, [
        saved,
        saved,
        { type: 'ContentTypeDeleted', data: { type_id: 'x', name: 'article', content: 'hard' } },
      ]);
      const worker = setUp().worker();
      worker.start();
      await worker.handle(events);
      await receiver().waitFor(3);
      await worker.stop();
      expect(receiver().requests.map(({ path }) => path)).to.deep.equal(['/all', '/all', '/all']);
      expect(bodies().map(({ event, schema, data }) => ({ event, schema, data }))).to.have.deep.members([
        { event: 'after_create', schema: 'sys_schemas', data: { name: 'article', action: 'created' } },
        { event: 'after_create', schema: 'sys_schemas', data: { name: 'article', action: 'updated' } },
        { event: 'after_delete', schema: 'sys_schemas', data: { name: 'article', action: 'deleted' } },
      ]);
    });
  });
});
