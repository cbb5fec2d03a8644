import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { copyEvents } from '../../../../application/platform/copy-events.ts';
import { openCommands } from '../../../../infrastructure/composition/commands/open-commands.ts';
import { startService } from '../../../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer, readSettings } from '../../../../infrastructure/configuration/read-settings.ts';
import { openEventStoreDb } from '../../../../infrastructure/event-store/eventstoredb/eventstoredb-event-store.ts';
import { openPostgresEventStore } from '../../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import { createLogger } from '../../../../infrastructure/logging/create-logger.ts';
import { admin, serverUrl } from '../../../support/database.ts';
import { eventually } from '../../../support/eventually.ts';
import { type FakeEventStoreDb, startFakeEventStoreDb } from '../../../support/fake-eventstoredb/fake-eventstoredb.ts';
import { type Call, caller } from '../../../support/http.ts';
import { OWNER } from '../../../support/owner.ts';
import { testEnvironment, useService } from '../../../support/service.ts';

describe('a service whose event store is an EventStoreDB', function () {
  this.timeout(30_000);
  let server: FakeEventStoreDb;
  let key: Call;
  const environment = { EVENT_STORE_URL: '' };
  before(async () => {
    server = await startFakeEventStoreDb();
    environment.EVENT_STORE_URL = server.url;
  });
  const service = useService({ environment });
  after(() => server.stop());
  before(async () => {
    const saved = await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [{ name: 'title', field_type: 'text' }],
    });
    expect(saved.status, saved.text).to.be.oneOf([200, 201]);
    key = await service.key({});
  });

  async function create(title: string): Promise<string> {
    const created = await key('POST', '/api/v1/content/note', { data: { title } });
    expect(created.status, created.text).to.equal(201);
    return `/api/v1/content/note/${created.json<{ id: string }>().id}`;
  }

  it('shows a write in the next read', async () => {
    const path = await create('first');
    const reply = await key('GET', path);
    expect([reply.status, reply.json<{ data: { title: string } }>().data.title]).to.deep.equal([200, 'first']);
    const changed = await key('PUT', path, { data: { title: 'second' } });
    expect(changed.status).to.equal(200);
    expect(changed.headers['x-commit-position']).to.match(/^\d{20}$/);
    expect((await key('GET', path)).json<{ data: { title: string } }>().data.title).to.equal('second');
    expect((await key('GET', `${path}/revisions`)).json<unknown[]>()).to.have.length(2);
  });

  it('rebuilds and replays its read models to equal content', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => create(`entry ${n}`)));
    // After the last event of the service come system events of the server.
    for (let n = 0; n < 40; n += 1) server.log.addSystemEvent();
    const { settings } = readSettings([
      environmentLayer({ DATABASE_URL: service.database.url(), EVENT_STORE_URL: server.url }),
    ]);
    const commands = await openCommands({ settings, logger: createLogger({ level: 'error', format: 'json' }) });
    const target = `replay_${randomBytes(6).toString('hex')}`;
    await admin(`create database ${target}`);
    try {
      const live = await commands.digest();
      expect(live.find(({ table }) => table === 'rm_content.note')?.rows).to.be.greaterThan(29);
      expect(await commands.rebuild('all')).to.deep.equal(live);
      expect(await commands.replay({ to: serverUrl(target) })).to.deep.equal(live);
    } finally {
      await commands.close();
      await admin(`drop database ${target} with (force)`);
    }
  });

  it('continues after a restart of the event store', async () => {
    await create('before');
    await server.restart();
    await eventually(async () => {
      const path = await create('after');
      expect((await key('GET', path)).json<{ data: { title: string } }>().data.title).to.equal('after');
    });
  });
});

describe('a service that moves to an EventStoreDB', function () {
  this.timeout(40_000);
  let server: FakeEventStoreDb;
  before(async () => {
    server = await startFakeEventStoreDb();
  });
  const service = useService();
  after(() => server.stop());

  it('continues with the copied history and the translated checkpoints', async () => {
    const key = await service.key({});
    await service.owner('POST', '/api/admin/schemas', {
      name: 'note',
      fields: [{ name: 'title', field_type: 'text' }],
    });
    const created = await key('POST', '/api/v1/content/note', { data: { title: 'before' } });
    const path = `/api/v1/content/note/${created.json<{ id: string }>().id}`;
    const database = service.database.db();
    const source = await openPostgresEventStore({ database });
    const target = await openEventStoreDb({ url: server.url });
    await eventually(async () => {
      const head = await source.head();
      expect(
        await database.query('select name from operational.checkpoints where position <> $1', [head]),
      ).to.deep.equal([]);
    });
    await service.service().stop();
    const { equal, heads } = await copyEvents({ from: source, to: target }, { pause: () => Promise.resolve() });
    expect(equal).to.equal(true);
    await database.query('update operational.checkpoints set position = $2 where position = $1', [
      heads.from,
      heads.to,
    ]);
    await Promise.all([source.close(), target.close()]);

    const environment = {
      ...testEnvironment(service.database.url(), service.directory()),
      EVENT_STORE_URL: server.url,
    };
    const moved = await startService({ settings: loadSettings([environmentLayer(environment)]).settings });
    try {
      const call = caller(() => moved.contentUrl);
      const signedIn = await caller(() => moved.adminUrl)('POST', '/api/admin/auth/login', OWNER);
      expect(signedIn.status, signedIn.text).to.equal(200);
      const authorization = { authorization: `Bearer ${signedIn.json<{ token: string }>().token}` };
      const changed = await call('PUT', path, { data: { title: 'after' } }, authorization);
      expect(changed.status, changed.text).to.equal(200);
      expect(
        (await call('GET', path, undefined, authorization)).json<{ data: { title: string } }>().data.title,
      ).to.equal('after');
      expect((await call('GET', `${path}/revisions`, undefined, authorization)).json<unknown[]>()).to.have.length(2);
    } finally {
      await moved.stop();
    }
  });
});
