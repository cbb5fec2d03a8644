import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeEventStoreDb, startFakeEventStoreDb } from '../support/fake-eventstoredb/fake-eventstoredb.ts';
import { type Call, type Reply, caller, statusAndError } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment, useService } from '../support/service.ts';
import { type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';

const NOTE = {
  name: 'note',
  fields: [
    { name: 'title', field_type: 'text', unique: true },
    { name: 'n', field_type: 'integer' },
  ],
};

describe('a request with an Idempotency-Key whose process is killed after the append', function () {
  this.timeout(180_000);
  const database = useDatabase();
  const directory = useDirectory();
  let environment: Record<string, string>;
  let service: ServiceProcess;
  let owner: Call;
  let content: Call;
  let receiver: WebhookReceiver;
  let entry: string;
  let rotated: string;

  before(async () => {
    receiver = await startReceiver();
    environment = {
      ...testEnvironment(database.url(), directory()),
      ...licenseEnvironment({ capabilities: ['content-pro'] }),
    };
    service = await startServiceProcess(environment);
    const { token } = await setUpOwner(caller(() => service.adminUrl));
    owner = caller(() => service.adminUrl, { authorization: `Bearer ${token}` });
    content = caller(() => service.contentUrl, { authorization: `Bearer ${token}` });
    expect((await owner('POST', '/api/admin/schemas', NOTE)).status).to.be.oneOf([200, 201]);
    entry = (await content('POST', '/api/v1/content/note', { data: { title: 'first', n: 1 } })).json<{ id: string }>()
      .id;
    // With one more key and one more webhook the free tier is used up.
    for (let n = 1; n <= 4; n += 1)
      rotated = (await owner('POST', '/api/admin/api-keys', { name: `k${n}`, scopes: ['content:read'] })).json<{
        id: string;
      }>().id;
  });
  after(async () => {
    await service.end('SIGKILL');
    await receiver.close();
  });

  type Request = { readonly name: string; readonly send: () => Promise<Reply> };

  function requests(): readonly Request[] {
    const key = { 'idempotency-key': 'the same' };
    return [
      {
        name: 'an entry',
        send: () => content('POST', '/api/v1/content/note', { data: { title: 'one', n: 1 } }, key),
      },
      {
        name: 'several entries',
        send: () =>
          content(
            'POST',
            '/api/v1/content/note/bulk',
            { entries: [{ data: { title: 'two', n: 2 } }, { data: { title: 'three', n: 3 } }] },
            key,
          ),
      },
      {
        name: 'an entry of the console',
        send: () =>
          owner('POST', '/api/admin/content', { schema_name: 'note', data: { title: 'first again', n: 4 } }, key),
      },
      {
        name: 'a comment',
        send: () => owner('POST', `/api/admin/content/${entry}/comments`, { body: 'Well said' }, key),
      },
      {
        name: 'an API key',
        send: () => owner('POST', '/api/admin/api-keys', { name: 'k5', scopes: ['content:read'] }, key),
      },
      { name: 'a rotation', send: () => owner('POST', `/api/admin/api-keys/${rotated}/rotate`, {}, key) },
      {
        name: 'a webhook',
        send: () =>
          owner(
            'POST',
            '/api/admin/webhooks',
            { name: 'w', url: receiver.url, events: ['after_create'], secret: 'a secret of 20 chars' },
            key,
          ),
      },
    ];
  }

  async function eventCounts(): Promise<Readonly<Record<string, number>>> {
    const rows = await database
      .db()
      .query<{ type: string; n: number }>(`select type, count(*)::int as n from eventstore.events group by type`);
    return Object.fromEntries(rows.map(({ type, n }) => [type, n]));
  }

  it('writes once, and the repeat gets the first response without secrets', async () => {
    // A response is stored only after this lock is free, so the process dies between the append and the response.
    await database.db().query(`
      create function public.hold() returns trigger language plpgsql as $$
        begin perform pg_advisory_xact_lock(4711); return new; end $$;
      create trigger hold before update on operational.idempotency_keys for each row when (new.state = 'done')
        execute function public.hold()`);
    const holder = await database.db().connect();
    await holder.query('select pg_advisory_lock(4711)');
    const all = requests();
    const lost = Promise.allSettled(all.map(({ send }) => send()));
    await eventually(
      async () => {
        const waiting = await database
          .db()
          .query(`select 1 from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`);
        expect(waiting).to.have.length(all.length);
      },
      { timeoutMs: 60_000 },
    );
    const written = await eventCounts();
    await service.end('SIGKILL');
    // The server does not notice the death of a client that waits for a lock.
    await database
      .db()
      .query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`,
      );
    expect((await lost).map(({ status }) => status)).to.deep.equal(all.map(() => 'rejected'));
    await holder.end();
    await database.db().query('drop trigger hold on operational.idempotency_keys');
    // As if the time had passed after which an attempt counts as crashed.
    await database.db().query(`update operational.idempotency_keys set locked_until = '-infinity'`);

    service = await startServiceProcess(environment);
    for (const { name, send } of all) {
      const reply = await send();
      expect(reply.status, `${name}: ${reply.text}`).to.be.oneOf([200, 201]);
      expect(reply.headers['idempotency-replayed'], name).to.equal('true');
      expect(reply.text, name).not.to.include('raw_key');
      const again = await send();
      expect([again.status, again.text], name).to.deep.equal([reply.status, reply.text]);
    }
    expect(await eventCounts()).to.deep.equal(written);
    const entries = (await content('GET', '/api/v1/content/note?sort=n')).json<{ data: { title: string } }[]>();
    expect(entries.map(({ data }) => data.title)).to.have.members(['first', 'one', 'two', 'three', 'first again']);
    const keys = (await owner('GET', '/api/admin/api-keys')).json<{ id: string; name: string; prefix: string }[]>();
    expect(keys.filter(({ name }) => name === 'k5')).to.have.length(1);
  });

  it('keeps the values that an entry of the repeat claims', async () => {
    const reply = await content('POST', '/api/v1/content/note', { data: { title: 'one' } });
    expect(reply.status).to.equal(409);
  });

  it('refuses another body for the key', async () => {
    const reply = await content(
      'POST',
      '/api/v1/content/note',
      { data: { title: 'other' } },
      { 'idempotency-key': 'the same' },
    );
    expect(statusAndError(reply)).to.deep.equal([422, 'idempotency key was used with another body']);
  });
});

describe('a request with an Idempotency-Key whose append was not answered', function () {
  this.timeout(60_000);
  let server: FakeEventStoreDb;
  const environment = { EVENT_STORE_URL: '' };
  before(async () => {
    server = await startFakeEventStoreDb();
    environment.EVENT_STORE_URL = server.url;
  });
  const service = useService({ environment });
  after(() => server.stop());

  it('keeps its key, and the repeat finds the entry that was written', async () => {
    await service.owner('POST', '/api/admin/schemas', NOTE);
    const key = await service.key({});
    const create = (): Promise<Reply> =>
      key('POST', '/api/v1/content/note', { data: { title: 'a', n: 1 } }, { 'idempotency-key': 'k' });
    server.faults.appends = 'lost';
    expect((await create()).status).to.equal(503);
    server.faults.appends = 'none';
    const other = await key('POST', '/api/v1/content/note', { data: { title: 'b' } }, { 'idempotency-key': 'k' });
    expect(other.status).to.equal(422);
    const reply = await create();
    expect([reply.status, reply.headers['idempotency-replayed']], reply.text).to.deep.equal([201, 'true']);
    const { id } = reply.json<{ id: string }>();
    const entries = (await key('GET', '/api/v1/content/note')).json<{ id: string }[]>();
    expect(entries.map((entry) => entry.id)).to.deep.equal([id]);
  });
});
