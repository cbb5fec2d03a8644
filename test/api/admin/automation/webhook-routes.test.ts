import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { webhookRoutes } from '../../../../api/admin/automation/webhook-routes.ts';
import type { RecordedEvent } from '../../../../domain/event.ts';
import { createWebhookRecords } from '../../../../infrastructure/automation/webhook-records.ts';
import { createExclusive } from '../../../../infrastructure/postgres/exclusive.ts';
import { createWebhookQueries } from '../../../../projections/automation/queries.ts';
import { useDatabase } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, caller, resultOf } from '../../../support/http.ts';
import { type Served, serve } from '../../../support/serve-routes.ts';
import { type WebhookReceiver, startReceiver } from '../../../support/webhook-receiver.ts';
import { type WebhookSetUp, created, webhookSetUp } from '../../../support/webhook-set-up.ts';

type Shown = { readonly id: string; readonly [field: string]: unknown };
const SECRET = 'sixteen characters or more';

describe('the webhook routes', () => {
  const database = useDatabase();
  let setUp: WebhookSetUp;
  let served: Served;
  let receiver: WebhookReceiver;
  let owner: Call;
  let admin: Call;
  let editor: Call;
  let licensed = false;

  before(async () => {
    setUp = await webhookSetUp(database.db());
    receiver = await startReceiver();
    const progress = { waitFor: () => setUp.project().then(() => true) };
    const routes = webhookRoutes({
      eventStore: setUp.eventStore,
      vault: setUp.vault,
      outbound: setUp.outbound,
      webhooks: createWebhookQueries({ database: database.db() }),
      records: createWebhookRecords({ database: database.db() }),
      entitlements: {
        has: (capability) => licensed && capability === 'webhook-pro',
        upgradeUrl: 'https://palimpsest.example/upgrade',
      },
      exclusive: createExclusive({ database: database.db() }),
      progress,
      newSecret: () => randomBytes(32).toString('base64url'),
    });
    served = await serve(routes, {}, { progress, tenantState: () => 'active' });
    const as = (token: string) => caller(() => served.admin.url, { authorization: `Bearer ${token}` });
    [owner, admin, editor] = [as('super'), as('admin'), as('editor')];
  });
  beforeEach(async () => {
    licensed = false;
    await database.db().query('truncate rm_automation.webhooks');
  });
  after(async () => {
    await served.admin.close({ deadlineMs: 500 });
    await served.content.close({ deadlineMs: 500 });
    await setUp.close();
    await receiver.close();
  });

  const body = (extra: Record<string, unknown> = {}) => ({
    name: 'orders',
    url: `${receiver.url}/hook?token=abc`,
    events: ['after_create'],
    ...extra,
  });
  async function make(extra: Record<string, unknown> = {}): Promise<Shown> {
    return resultOf<Shown>(await owner('POST', '/api/admin/webhooks', body(extra)), 201);
  }

  it('create, list, read, replace and delete webhooks, and never show the secret', async () => {
    const made = await make({ secret: SECRET });
    expect(made).to.include({
      name: 'orders',
      url: `${receiver.url}/hook?token=abc`,
      enabled: true,
      has_secret: true,
      max_response_size: 1_048_576,
    });
    expect(made).to.deep.include({
      events: ['after_create'],
      schemas: [],
      headers: {},
      include_fields: [],
      exclude_fields: [],
    });
    expect(made).not.to.have.property('secret');
    expect((await admin('GET', '/api/admin/webhooks')).json()).to.deep.equal([made]);
    expect((await admin('GET', `/api/admin/webhooks/${made.id}`)).json()).to.deep.equal(made);
    const replaced = await owner(
      'PUT',
      `/api/admin/webhooks/${made.id}`,
      body({ name: 'renamed', enabled: false, schemas: ['article'] }),
    );
    expect(replaced.status).to.equal(200);
    expect(replaced.json()).to.deep.include({
      id: made.id,
      name: 'renamed',
      enabled: false,
      schemas: ['article'],
      has_secret: true,
      created_at: made['created_at'],
    });
    expect((await admin('GET', `/api/admin/webhooks/${made.id}`)).json()).to.deep.equal(replaced.json());
    expect((await owner('DELETE', `/api/admin/webhooks/${made.id}`)).status).to.equal(204);
    expect((await admin('GET', `/api/admin/webhooks/${made.id}`)).status).to.equal(404);
    expect((await owner('PUT', `/api/admin/webhooks/${made.id}`, body())).json()).to.deep.include({
      error: 'webhook not found',
    });
    expect((await owner('DELETE', `/api/admin/webhooks/${made.id}`)).status).to.equal(404);
  });

  it('append events that contain no URL, header or secret in plain text', async () => {
    const made = await make({ secret: SECRET, headers: { 'X-Token': 'customer-credential' } });
    await owner(
      'PUT',
      `/api/admin/webhooks/${made.id}`,
      body({ name: 'renamed', headers: { 'X-Token': '[redacted]' } }),
    );
    const events: RecordedEvent[] = [];
    for await (const event of setUp.eventStore.readStream(`webhook-default.${made.id}`)) events.push(event);
    expect(events.map(({ type }) => type)).to.deep.equal(['WebhookCreated', 'WebhookChanged']);
    expect(events[1]!.data).to.deep.equal({ settings: { name: 'renamed' } });
    const text =
      JSON.stringify(events) + JSON.stringify(await database.db().query('select * from rm_automation.webhooks'));
    for (const clear of [SECRET, 'customer-credential', 'token=abc', '127.0.0.1']) expect(text).not.to.include(clear);
  });

  it('need admin to read and super_admin to change', async () => {
    const { id } = await make();
    expect((await editor('GET', '/api/admin/webhooks')).status).to.equal(403);
    expect((await admin('POST', '/api/admin/webhooks', body())).status).to.equal(403);
    expect((await admin('PUT', `/api/admin/webhooks/${id}`, body())).status).to.equal(403);
    expect((await admin('DELETE', `/api/admin/webhooks/${id}`)).status).to.equal(403);
    expect((await admin('POST', `/api/admin/webhooks/${id}/rotate-secret`, {})).status).to.equal(403);
    expect((await caller(() => served.admin.url)('GET', '/api/admin/webhooks')).status).to.equal(401);
  });

  it('answer 404 for webhooks of another tenant', async () => {
    const { id } = await make();
    const other = { 'x-tenant-id': 'acme' };
    expect((await owner('GET', '/api/admin/webhooks', undefined, other)).json()).to.deep.equal([]);
    for (const [method, path, sent] of [
      ['GET', '', undefined],
      ['PUT', '', body()],
      ['DELETE', '', undefined],
      ['POST', '/test', {}],
      ['POST', '/rotate-secret', {}],
      ['GET', '/deliveries', undefined],
    ] as const) {
      expect(
        (await owner(method, `/api/admin/webhooks/${id}${path}`, sent, other)).status,
        `${method} ${path}`,
      ).to.equal(404);
    }
  });

  describe('refusals', () => {
    it('answer 400 invalid JSON for an unknown field and for text that is not JSON', async () => {
      for (const sent of [body({ colour: 'red' }), '{"name":', '[]', 'null']) {
        const reply = await owner(
          'POST',
          '/api/admin/webhooks',
          sent,
          typeof sent === 'string' ? { 'content-type': 'application/json' } : {},
        );
        expect(reply.status, reply.text).to.equal(400);
        expect(reply.json()).to.include({ error: 'invalid JSON' });
      }
    });

    const bad: readonly (readonly [string, Record<string, unknown>])[] = [
      ['name', { name: ' ' }],
      ['name', { name: undefined }],
      ['url', { url: 7 }],
      ['events.0', { events: ['before_create'] }],
      ['schemas', { schemas: 'article' }],
      ['enabled', { enabled: 'yes' }],
      ['secret', { secret: 'too short' }],
      ['headers', { headers: { 'X-A': 'b\r\nX-Injected: 1' } }],
      ['headers', { headers: { 'X-Ü': 'b' } }],
      ['headers', { headers: { 'X-A': 'ünïcode' } }],
      ['headers', { headers: { Host: 'evil.test' } }],
      ['headers', { headers: { 'Content-Length': '1' } }],
      ['headers', { headers: { 'Transfer-Encoding': 'chunked' } }],
      ['headers', { headers: { 'x-webhook-signature': 'mine' } }],
      ['headers', { headers: { 'X-Token': '[redacted]' } }],
      ['exclude_fields', { include_fields: ['a'], exclude_fields: ['b'] }],
      ['max_response_size', { max_response_size: -1 }],
      ['max_retries', { max_retries: 101 }],
    ];
    for (const [field, extra] of bad) {
      it(`answer 400 invalid input for ${field} (${JSON.stringify(extra).slice(0, 60)})`, async () => {
        const reply = await owner('POST', '/api/admin/webhooks', body(extra));
        expect(reply.status).to.equal(400);
        const answer = reply.json<{ error: string; fields: { field: string }[] }>();
        expect(answer.error).to.equal('invalid input');
        expect(answer.fields.map((problem) => problem.field)).to.include(field);
      });
    }

    it('answer validation failed for a negative number of retries', async () => {
      const reply = await owner('POST', '/api/admin/webhooks', body({ max_retries: -1 }));
      expect(reply.status).to.equal(400);
      expect(reply.json()).to.include({ error: 'validation failed' });
    });

    for (const url of [
      'http://169.254.169.254/',
      'http://10.0.0.1',
      'http://redis/',
      'ftp://example.com',
      'https://u:p@example.com',
      'http://[::ffff:a9fe:a9fe]/',
      'not a url',
    ]) {
      it(`answer 400 invalid input for the unsafe URL ${url} on create and replace`, async () => {
        const { id } = await make();
        for (const reply of [
          await owner('POST', '/api/admin/webhooks', body({ url })),
          await owner('PUT', `/api/admin/webhooks/${id}`, body({ url })),
        ]) {
          expect(reply.status).to.equal(400);
          expect(reply.json()).to.deep.include({ error: 'invalid input' });
          expect(reply.json<{ fields: { field: string }[] }>().fields[0]!.field).to.equal('url');
        }
      });
    }

    it('answer 404 for an id that is not a UUID', async () => {
      expect((await admin('GET', '/api/admin/webhooks/nope')).json()).to.include({ error: 'webhook not found' });
      expect((await admin('GET', '/api/admin/webhook-dead-letters/nope')).json()).to.include({
        error: 'dead letter not found',
      });
    });
  });

  describe('license', () => {
    const paid = {
      payload_template: '{}',
      field_filters: { a: 'b' },
      jsonpath_filter: '$.data.a',
      max_retries: 3,
      retry_delay_seconds: 10,
    };
    for (const [option, value] of Object.entries(paid)) {
      it(`answers 402 payment_required for ${option} without webhook-pro`, async () => {
        const reply = await owner('POST', '/api/admin/webhooks', body({ [option]: value }));
        expect(reply.status).to.equal(402);
        expect(reply.json()).to.deep.include({
          error: 'payment_required',
          plugin: 'webhook',
          feature: 'feature:webhook-pro',
          upgrade_url: 'https://palimpsest.example/upgrade',
        });
      });
    }

    it('accepts empty paid options for free', async () => {
      const quiet = {
        payload_template: '',
        field_filters: {},
        jsonpath_filter: null,
        max_retries: 0,
        retry_delay_seconds: null,
      };
      expect((await owner('POST', '/api/admin/webhooks', body(quiet))).status).to.equal(201);
    });

    it('answers 402 cap_exceeded for the 26th webhook, enabled or not, also in a burst', async () => {
      for (let count = 0; count < 20; count += 1) await make({ enabled: count % 2 === 0 });
      const replies = await Promise.all(Array.from({ length: 8 }, () => owner('POST', '/api/admin/webhooks', body())));
      expect(replies.map(({ status }) => status).toSorted()).to.deep.equal([201, 201, 201, 201, 201, 402, 402, 402]);
      expect(replies.find(({ status }) => status === 402)!.json()).to.deep.include({
        error: 'cap_exceeded',
        cap: 'webhook.endpoints',
        limit: 25,
        current: 25,
        upgrade_url: 'https://palimpsest.example/upgrade',
      });
      expect((await admin('GET', '/api/admin/webhooks?count=true')).headers['x-total-count']).to.equal('25');
      licensed = true;
      await make();
    });
  });

  it('redact headers with secret names, and keep the stored value when [redacted] is sent back', async () => {
    const made = await make({ headers: { 'X-Api-Key': 'customer', 'X-Plain': 'seen' } });
    expect(made['headers']).to.deep.equal({ 'X-Api-Key': '[redacted]', 'X-Plain': 'seen' });
    await owner(
      'PUT',
      `/api/admin/webhooks/${made.id}`,
      body({ headers: { 'x-api-key': '[redacted]', 'X-Plain': 'changed' } }),
    );
    await admin('POST', `/api/admin/webhooks/${made.id}/test`);
    expect(receiver.requests.at(-1)!.headers).to.include({ 'x-api-key': 'customer', 'x-plain': 'changed' });
  });

  describe('rotate-secret', () => {
    it('generates or sets a secret and shows it once', async () => {
      const { id } = await make();
      const generated = (await owner('POST', `/api/admin/webhooks/${id}/rotate-secret`, {})).json<{
        new_secret: string;
      }>();
      expect(generated.new_secret).to.have.length.at.least(32);
      expect((await admin('GET', `/api/admin/webhooks/${id}`)).json()).to.include({ has_secret: true });
      expect(
        (await owner('POST', `/api/admin/webhooks/${id}/rotate-secret`, { new_secret: SECRET })).json(),
      ).to.deep.equal({ new_secret: SECRET });
    });

    it('refuses an empty body, an unknown field and a short secret', async () => {
      const { id } = await make();
      const rotate = (sent: unknown) =>
        owner('POST', `/api/admin/webhooks/${id}/rotate-secret`, sent, { 'content-type': 'application/json' });
      for (const sent of ['', { secret: SECRET }])
        expect((await rotate(sent)).json()).to.include({ error: 'invalid JSON' });
      expect((await rotate({ new_secret: 'short' })).json()).to.deep.include({ error: 'invalid input' });
    });
  });

  describe('test', () => {
    it('sends a signed request now and answers its result', async () => {
      const { id } = await make({ secret: SECRET });
      const reply = await admin('POST', `/api/admin/webhooks/${id}/test`);
      expect(reply.status).to.equal(200);
      expect(reply.json()).to.include({ success: true, status_code: 200 });
      const sent = receiver.requests.at(-1)!;
      expect(JSON.parse(sent.body)).to.deep.include({
        event: 'test',
        schema: '*',
        data: { message: 'This is a test delivery.' },
      });
      expect(sent.headers).to.include({ 'x-webhook-event': 'test', 'x-webhook-schema': '*' });
      expect(sent.headers['x-webhook-signature']).to.match(/^sha256=[0-9a-f]{64}$/);
    });

    it('answers the failure of an endpoint with success false', async () => {
      receiver.answer((_request, response) => response.writeHead(503).end());
      const { id } = await make({ include_fields: ['title'] });
      expect((await admin('POST', `/api/admin/webhooks/${id}/test`)).json()).to.deep.equal({
        success: false,
        status_code: 503,
        message: 'the endpoint answered 503',
      });
      expect(JSON.parse(receiver.requests.at(-1)!.body)).to.deep.include({ data: {} });
      receiver.answer((_request, response) => response.writeHead(200).end());
    });
  });

  it('list deliveries and dead letters, newest first, in pages', async () => {
    receiver.answer((_request, response) => response.writeHead(500).end());
    const { id } = await make();
    await setUp.project();
    const worker = setUp.worker();
    worker.start();
    for (const title of ['one', 'two']) await worker.handle(await setUp.entry(v7(), [created({ title })]));
    const letters = await eventually(async () => {
      const found = (await admin('GET', '/api/admin/webhook-dead-letters?status=pending')).json<Shown[]>();
      expect(found).to.have.length(2);
      return found;
    });
    await worker.stop();
    expect((await admin('GET', `/api/admin/webhook-dead-letters/${letters[0]!.id}`)).json()).to.deep.equal(letters[0]);
    expect(letters[0]).to.include({ webhook_id: id, total_attempts: 3, last_status_code: 500, status: 'pending' });
    expect((await admin('GET', '/api/admin/webhook-dead-letters?status=replayed')).json()).to.deep.equal([]);
    expect((await admin('GET', '/api/admin/webhook-dead-letters?status=lost')).status).to.equal(400);
    const all = (await admin('GET', `/api/admin/webhooks/${id}/deliveries`)).json<Shown[]>();
    expect(all).to.have.length(6);
    const times = all.map((delivery) => String(delivery['created_at']));
    expect(times).to.deep.equal(times.toSorted().reverse());
    expect((await admin('GET', `/api/admin/webhooks/${id}/deliveries?limit=2&offset=4`)).json()).to.deep.equal(
      all.slice(4),
    );
    expect((await admin('GET', `/api/admin/webhooks/${id}/deliveries?limit=501`)).status).to.equal(400);
    expect((await admin('GET', `/api/admin/webhooks/${v7()}/deliveries`)).status).to.equal(404);
    receiver.answer((_request, response) => response.writeHead(200).end());
  });
});
