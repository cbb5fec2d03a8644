import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { eventually } from '../support/eventually.ts';
import { type Call, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';
import { type Received, type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';

type Envelope = {
  readonly event: string;
  readonly schema: string;
  readonly data: Record<string, unknown>;
  readonly old_data?: Record<string, unknown>;
  readonly timestamp: string;
};
type Delivery = {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly status_code: number | null;
  readonly attempt_num: number;
  readonly request_body: string;
  readonly error: string | null;
};

const SECRET = 'a-webhook-secret-of-32-characters';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const envelopeOf = ({ body }: Received) => JSON.parse(body) as Envelope;

describe('outbound webhooks', function () {
  this.timeout(40_000);
  const service = useService();
  const receivers: WebhookReceiver[] = [];
  let key: Call;

  before(async () => {
    const fields = [
      { name: 'title', field_type: 'text' },
      { name: 'n', field_type: 'integer' },
    ];
    await service.owner('POST', '/api/admin/schemas', { name: 'article', with_draft_publish: true, fields });
    await service.owner('POST', '/api/admin/schemas', { name: 'note', fields });
    key = await service.key({});
  });
  afterEach(async () => {
    await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  });

  async function receive(): Promise<WebhookReceiver> {
    const receiver = await startReceiver();
    receivers.push(receiver);
    return receiver;
  }
  async function make(body: object): Promise<string> {
    const reply = await service.owner('POST', '/api/admin/webhooks', {
      name: 'a webhook',
      events: ['after_create', 'after_update', 'after_delete'],
      schemas: ['article'],
      ...body,
    });
    expect(reply.status, reply.text).to.equal(201);
    return reply.json<{ id: string }>().id;
  }
  async function remove(id: string): Promise<void> {
    expect((await service.owner('DELETE', `/api/admin/webhooks/${id}`)).status).to.equal(204);
  }
  async function deliveries(id: string): Promise<readonly Delivery[]> {
    return (await service.owner('GET', `/api/admin/webhooks/${id}/deliveries`)).json<Delivery[]>();
  }

  it('show a renamed field under its new name, also in earlier values', async () => {
    const receiver = await receive();
    await service.owner('POST', '/api/admin/schemas', {
      name: 'renamed',
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'old', field_type: 'text' },
      ],
    });
    const entry = (
      await service.ownerContent('POST', '/api/v1/content/renamed', { data: { title: 'a', old: 'kept' } })
    ).json<{ id: string }>();
    expect(
      (await service.owner('PUT', '/api/admin/schemas/renamed/fields/old/rename', { new_name: 'fresh' })).status,
    ).to.equal(200);
    const id = await make({ url: `${receiver.url}/hook`, schemas: ['renamed'] });
    await service.ownerContent('PUT', `/api/v1/content/renamed/${entry.id}`, { data: { title: 'b' } });
    const [updated] = (await receiver.waitFor(1)).map(envelopeOf);
    expect(updated).to.deep.include({
      schema: 'renamed',
      data: { title: 'b', fresh: 'kept', id: entry.id },
      old_data: { title: 'a', fresh: 'kept', id: entry.id },
    });
    await remove(id);
  });

  it('report every change of an entry in the documented envelope, with a publication as after_update', async () => {
    const receiver = await receive();
    const id = await make({ url: `${receiver.url}/hook` });
    const entry = (await key('POST', '/api/v1/content/article', { data: { title: 'One', n: 1 } })).json<{
      id: string;
    }>();
    await receiver.waitFor(1);
    await key('PUT', `/api/v1/content/article/${entry.id}`, { data: { title: 'Two' } });
    await receiver.waitFor(2);
    await key('PUT', `/api/v1/content/article/${entry.id}/publish`);
    await receiver.waitFor(3);
    await key('DELETE', `/api/v1/content/article/${entry.id}`);
    const requests = await receiver.waitFor(4);

    const [created, updated, published, deleted] = requests.map(envelopeOf);
    expect(created)
      .to.deep.include({
        event: 'after_create',
        schema: 'article',
        data: { title: 'One', n: 1, id: entry.id, status: 'draft' },
      })
      .and.not.have.property('old_data');
    expect(updated).to.deep.include({
      event: 'after_update',
      data: { title: 'Two', n: 1, id: entry.id, status: 'draft' },
      old_data: { title: 'One', n: 1, id: entry.id, status: 'draft' },
    });
    expect(published).to.deep.include({
      event: 'after_update',
      data: { title: 'Two', n: 1, id: entry.id, status: 'published' },
      old_data: { title: 'Two', n: 1, id: entry.id, status: 'draft' },
    });
    expect(deleted)
      .to.deep.include({ event: 'after_delete', data: { title: 'Two', n: 1, id: entry.id, status: 'published' } })
      .and.not.have.property('old_data');
    for (const [index, { method, path, headers, body }] of requests.entries()) {
      const { event, timestamp } = JSON.parse(body) as Envelope;
      expect([method, path]).to.deep.equal(['POST', '/hook']);
      expect(headers).to.include({
        'content-type': 'application/json',
        'x-webhook-event': event,
        'x-webhook-schema': 'article',
        'x-webhook-attempt': '1',
      });
      expect(headers['x-webhook-id']).to.match(UUID);
      expect(headers, 'no secret, no signature').not.to.have.any.keys('x-webhook-signature', 'x-webhook-retry');
      expect(new Date(timestamp).toISOString(), `timestamp of ${index}`).to.equal(timestamp);
    }
    expect(new Set(requests.map(({ headers }) => headers['x-webhook-id'])).size).to.equal(4);
    await eventually(async () => {
      expect(
        (await deliveries(id)).map(({ event, status, status_code }) => [event, status, status_code]),
      ).to.deep.equal([
        ['after_delete', 'success', 200],
        ['after_update', 'success', 200],
        ['after_update', 'success', 200],
        ['after_create', 'success', 200],
      ]);
    });
    await remove(id);
  });

  it('send only the selected events, content types and fields, and nothing while disabled', async () => {
    const [picky, off, everything] = await Promise.all([receive(), receive(), receive()]);
    const ids = [
      await make({
        url: picky.url,
        events: ['after_update'],
        schemas: ['note'],
        include_fields: ['n'],
        headers: { 'X-Custom': 'hello' },
      }),
      await make({ url: off.url, schemas: ['note'], enabled: false }),
      await make({ url: everything.url, schemas: [] }),
    ];
    const note = (await key('POST', '/api/v1/content/note', { data: { title: 'kept back', n: 1 } })).json<{
      id: string;
    }>();
    await key('POST', '/api/v1/content/article', { data: { title: 'another type' } });
    await key('PUT', `/api/v1/content/note/${note.id}`, { data: { n: 2 } });
    const [request] = await picky.waitFor(1);
    expect(request && envelopeOf(request)).to.deep.include({
      data: { n: 2 },
      old_data: { title: 'kept back', n: 1, id: note.id },
    });
    expect(request?.headers['x-custom']).to.equal('hello');
    await service.owner('POST', '/api/admin/schemas', { name: 'late', fields: [{ name: 'a', field_type: 'text' }] });
    const all = (await everything.waitFor(4)).map(envelopeOf);
    expect(all.map(({ event, schema }) => `${event} ${schema}`).toSorted()).to.deep.equal([
      'after_create article',
      'after_create note',
      'after_create sys_schemas',
      'after_update note',
    ]);
    expect(all.find(({ schema }) => schema === 'sys_schemas')?.data).to.deep.include({ name: 'late' });
    expect([picky.requests.length, off.requests.length]).to.deep.equal([1, 0]);
    for (const id of ids) await remove(id);
  });

  it('are signed over time, nonce and raw body', async () => {
    const receiver = await receive();
    const id = await make({ url: receiver.url, secret: SECRET });
    await key('POST', '/api/v1/content/article', { data: { title: 'Ünïcode – 🦉' } });
    const verify = ({ headers, body }: Received, secret: string) => {
      const { 'x-webhook-timestamp': timestamp, 'x-webhook-nonce': nonce } = headers;
      expect(headers['x-webhook-algorithm']).to.equal('sha256');
      expect(nonce).to.match(UUID);
      expect(Math.abs(Number(timestamp) - Date.now() / 1000)).to.be.lessThan(30);
      expect(headers['x-webhook-signature']).to.equal(
        `sha256=${createHmac('sha256', Buffer.from(secret, 'utf8'))
          .update(Buffer.from(`${String(timestamp)}.${String(nonce)}.${body}`, 'utf8'))
          .digest('hex')}`,
      );
    };
    const [first] = await receiver.waitFor(1);
    if (first) verify(first, SECRET);
    const rotated = (await service.owner('POST', `/api/admin/webhooks/${id}/rotate-secret`, {})).json<{
      new_secret: string;
    }>().new_secret;
    expect(rotated).to.have.length.of.at.least(16);
    await key('POST', '/api/v1/content/article', { data: { title: 'after the rotation' } });
    const second = (await receiver.waitFor(2))[1];
    if (second) verify(second, rotated);
    expect(second?.headers['x-webhook-nonce']).not.to.equal(first?.headers['x-webhook-nonce']);
    await remove(id);
  });

  it('are retried with the same X-Webhook-Id, and become dead letters with the last error', async () => {
    const receiver = await receive();
    receiver.answer((_request, response) => response.writeHead(503).end('not today'));
    const waker = await receive();
    const id = await make({ url: receiver.url, secret: SECRET });
    const wakerId = await make({ url: waker.url, schemas: ['note'] });
    const write = await key('POST', '/api/v1/content/article', { data: { title: 'unwelcome' } });
    expect(write.status, 'a write does not depend on an endpoint').to.equal(201);
    await receiver.waitFor(1);

    const db = service.database.db();
    const waits = await eventually(async () => {
      expect(
        (await deliveries(id)).map(({ status, status_code, attempt_num }) => ({ status, status_code, attempt_num })),
      ).to.deep.equal([
        { status: 'pending', status_code: null, attempt_num: 2 },
        { status: 'failed', status_code: 503, attempt_num: 1 },
      ]);
      const rows = await db.query<{ attempt: number; seconds: number }>(
        'select attempt, extract(epoch from due_at - now())::float8 as seconds from operational.webhook_queue where webhook_id = $1',
        [id],
      );
      expect(rows).to.have.length(1);
      return rows;
    });
    expect(waits[0]?.attempt).to.equal(2);
    expect(waits[0]?.seconds, 'the first retry comes after 30 to 33 s').to.be.within(20, 33);

    // The test advances the due times in the queue. A delivery to another endpoint wakes the worker.
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      await eventually(async () => {
        const moved = await db.execute(
          'update operational.webhook_queue set due_at = now() where webhook_id = $1 and attempt = $2',
          [id, attempt],
        );
        expect(moved).to.equal(1);
      });
      await key('POST', '/api/v1/content/note', { data: { n: attempt } });
      await receiver.waitFor(attempt);
    }
    expect(
      receiver.requests.map(({ headers }) => [headers['x-webhook-attempt'], headers['x-webhook-retry']]),
    ).to.deep.equal([
      ['1', undefined],
      ['2', 'true'],
      ['3', 'true'],
      ['4', 'true'],
      ['5', 'true'],
    ]);
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-webhook-id'])).size).to.equal(1);
    expect(new Set(receiver.requests.map(({ headers }) => headers['x-webhook-nonce'])).size).to.equal(5);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).to.equal(1);

    const letter = await eventually(async () => {
      const [found] = (await service.owner('GET', '/api/admin/webhook-dead-letters')).json<Record<string, unknown>[]>();
      expect(found).to.be.an('object');
      return found;
    });
    expect(letter).to.deep.include({
      webhook_id: id,
      event: 'after_create',
      last_status_code: 503,
      total_attempts: 5,
      status: 'pending',
    });
    expect((await deliveries(id))[0]).to.deep.include({ status: 'dead', attempt_num: 5 });
    expect(await db.query('select 1 from operational.webhook_queue where webhook_id = $1', [id])).to.deep.equal([]);
    await remove(id);
    await remove(wakerId);
  });

  it('cannot be sent to the listeners of the service itself', async () => {
    for (const base of [service.service().adminUrl, service.service().contentUrl]) {
      const reply = await service.owner('POST', '/api/admin/webhooks', {
        name: 'inwards',
        url: `${base}/api/admin/setup`,
        events: ['after_create'],
      });
      expect(reply.status, reply.text).to.equal(400);
    }
  });

  it('are created once when the creation is repeated with the same Idempotency-Key', async () => {
    const receiver = await receive();
    const body = { name: 'once', url: `${receiver.url}/once`, secret: SECRET, events: ['after_create'] };
    const { id } = (await service.owner('POST', '/api/admin/webhooks', body, { 'idempotency-key': 'once' })).json<{
      id: string;
    }>();
    const again = await service.owner('POST', '/api/admin/webhooks', body, { 'idempotency-key': 'once' });
    expect([again.status, again.headers['idempotency-replayed'], again.json()['id']]).to.deep.equal([201, 'true', id]);
    expect(
      (await service.owner('GET', '/api/admin/webhooks')).json<{ id: string }[]>().map((webhook) => webhook.id),
    ).to.deep.equal([id]);
    const other = await service.owner(
      'POST',
      '/api/admin/webhooks',
      { ...body, name: 'another' },
      { 'idempotency-key': 'once' },
    );
    expect(statusAndError(other)).to.deep.equal([422, 'idempotency key was used with another body']);
    await remove(id);
  });

  it('never reveal their secret in responses, deliveries or the audit log', async () => {
    const receiver = await receive();
    const body = {
      name: 'quiet',
      url: receiver.url,
      events: ['after_create'],
      schemas: ['article'],
      secret: SECRET,
      headers: { 'X-Api-Token': 'the-customers-own-token' },
    };
    const made = await service.owner('POST', '/api/admin/webhooks', body);
    const { id } = made.json<{ id: string }>();
    await key('POST', '/api/v1/content/article', { data: { title: 'x' } });
    const [request] = await receiver.waitFor(1);
    expect(request?.headers['x-api-token']).to.equal('the-customers-own-token');
    const delivered = await eventually(async () => {
      const reply = await service.owner('GET', `/api/admin/webhooks/${id}/deliveries`);
      expect(reply.json<unknown[]>()).to.have.length(1);
      return reply;
    });
    const audit = await service.owner('GET', `/api/admin/audit?resource=webhook:${id}`);
    const events = audit.json<{ data: { id: string }[] }>().data;
    expect(events).to.have.length(1);
    const answers = [
      made,
      delivered,
      audit,
      await service.owner('GET', `/api/admin/webhooks/${id}`),
      await service.owner('GET', '/api/admin/webhooks'),
      await service.owner('PUT', `/api/admin/webhooks/${id}`, { ...body, secret: undefined }),
      await service.owner('GET', `/api/admin/audit/${events[0]?.id}`),
    ];
    for (const { status, text } of answers) {
      expect(status).to.be.within(200, 201);
      expect(text).not.to.contain(SECRET).and.not.contain('the-customers-own-token');
    }
    await remove(id);
  });

  for (const url of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://10.1.2.3/',
    'http://0.0.0.0:1/',
    'file:///etc/passwd',
    'http://metadata.google.internal/',
  ]) {
    it(`cannot be created with the address ${url}`, async () => {
      const reply = await service.owner('POST', '/api/admin/webhooks', {
        name: 'inside',
        url,
        events: ['after_create'],
      });
      expect(reply.status).to.equal(400);
      expect(reply.json<{ error: string; fields: { field: string }[] }>()).to.deep.include({ error: 'invalid input' });
      expect(reply.json<{ fields: { field: string }[] }>().fields.map(({ field }) => field)).to.deep.equal(['url']);
    });
  }

  it('cannot be sent to the database of the installation, regardless of the allowed networks', async () => {
    const { hostname, port } = new URL(service.database.url());
    const reply = await service.owner('POST', '/api/admin/webhooks', {
      name: 'own',
      url: `http://${hostname}:${port}/`,
      events: ['after_create'],
    });
    expect(statusAndError(reply)).to.deep.equal([400, 'invalid input']);
  });
});
