import { expect } from 'chai';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller, statusAndError } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

const BUSY = { error: 'another instance is applying DDL for this schema; retry in 1s', code: 'ddl_in_progress' };

/** A TCP proxy to the database that the test can close, which makes the database unreachable. */
async function openDatabaseProxy(databaseUrl: string): Promise<{ readonly url: string; up(): void; down(): void }> {
  const url = new URL(databaseUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const open = new Set<Socket>();
  let isUp = true;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (!isUp) {
      socket.destroy();
      return;
    }
    const upstream = connect(target);
    upstream.on('error', () => undefined);
    for (const end of [socket, upstream]) {
      open.add(end);
      end.once('close', () => {
        open.delete(end);
        for (const other of [socket, upstream]) other.destroy();
      });
    }
    socket.pipe(upstream).pipe(socket);
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    up: () => {
      isUp = true;
    },
    down: () => {
      isUp = false;
      for (const socket of open) socket.destroy();
    },
  };
}

describe('two processes that change content types', function () {
  this.timeout(60_000);
  const database = useDatabase();
  const processes: ServiceProcess[] = [];
  const directory = useDirectory();
  let one: Call;
  let two: Call;
  let read: Call;
  let bearer: Readonly<Record<string, string>>;

  before(async () => {
    const environment = testEnvironment(database.url(), directory());
    processes.push(await startServiceProcess(environment), await startServiceProcess(environment));
    const [first, second] = processes;
    const bare = caller(() => first?.adminUrl ?? '');
    const { token } = await setUpOwner(bare);
    bearer = { authorization: `Bearer ${token}` };
    one = caller(() => first?.adminUrl ?? '', bearer);
    two = caller(() => second?.adminUrl ?? '', bearer);
    read = caller(() => second?.contentUrl ?? '', bearer);
    for (const name of ['article', 'other', 'third'])
      expect(
        (await one('POST', '/api/admin/schemas', { name, fields: [{ name: 'title', field_type: 'text' }] })).status,
      ).to.equal(200);
  });
  after(async () => {
    await Promise.all(processes.map((process) => process.end('SIGKILL')));
  });

  /** Runs `work` while one process is blocked in trying the statements of a change of `article`. */
  async function whileHeld(change: () => ReturnType<Call>, work: () => Promise<void>): Promise<number> {
    const held = await database.db().transaction(async (tx) => {
      await tx.query('lock table rm_content.article in row exclusive mode');
      const changing = change();
      await eventually(async () => {
        expect(
          await database
            .db()
            .query(`select 1 from pg_locks where not granted and relation = 'rm_content.article'::regclass`),
        ).to.have.length(1);
      });
      await work();
      return { changing };
    });
    return (await held.changing).status;
  }

  it('change one type one after the other: the second gets 503 with Retry-After; other types are not affected', async () => {
    const saving = () =>
      one('POST', '/api/admin/schemas', {
        name: 'article',
        fields: [
          { name: 'title', field_type: 'text' },
          { name: 'more', field_type: 'text' },
        ],
      });
    const status = await whileHeld(saving, async () => {
      const refused = await two('POST', '/api/admin/schemas', { name: 'article', fields: [] });
      expect([refused.status, refused.headers['retry-after'], refused.json()]).to.deep.equal([503, '1', BUSY]);
      expect((await two('POST', '/api/admin/schemas/article/apply-pending')).status).to.equal(503);
      expect((await two('DELETE', '/api/admin/schemas/article')).status).to.equal(503);
      expect(
        (await two('PUT', '/api/admin/schemas/article/fields/title/rename', { new_name: 'heading' })).status,
      ).to.equal(503);
      expect(
        (
          await two('POST', '/api/admin/schemas', {
            name: 'other',
            fields: [
              { name: 'title', field_type: 'text' },
              { name: 'more', field_type: 'text' },
            ],
          })
        ).status,
      ).to.equal(200);
    });
    expect(status).to.equal(200);
  });

  it('lock both the old and the new name during a rename', async () => {
    const status = await whileHeld(
      () => one('PUT', '/api/admin/schemas/article/rename', { new_name: 'fresh' }),
      async () => {
        for (const name of ['article', 'fresh']) {
          const refused = await two('POST', '/api/admin/schemas', { name, fields: [] });
          expect([refused.status, refused.json()], name).to.deep.equal([503, BUSY]);
        }
      },
    );
    expect(status).to.equal(200);
    await eventually(async () => expect((await read('GET', '/api/v1/content/fresh')).status).to.equal(200));
    expect((await read('GET', '/api/v1/content/article')).status).to.equal(404);
    expect((await two('PUT', '/api/admin/schemas/fresh/rename', { new_name: 'article' })).status).to.equal(200);
  });

  it('never answer 500 to readers while a type is renamed repeatedly', async () => {
    const { id } = (await read('POST', '/api/v1/content/third', { data: { title: 'a' } })).json<{ id: string }>();
    let done = false;
    const statuses = new Set<number>();
    const reading = (async () => {
      while (!done)
        for (const name of ['third', 'fourth'])
          for (const path of ['', `/${id}`, '?filters[title]=a'])
            statuses.add((await read('GET', `/api/v1/content/${name}${path}`)).status);
    })();
    for (let turn = 0; turn < 10; turn += 1) {
      const [from, to] = turn % 2 === 0 ? (['third', 'fourth'] as const) : (['fourth', 'third'] as const);
      expect((await one('PUT', `/api/admin/schemas/${from}/rename`, { new_name: to })).status).to.equal(200);
    }
    done = true;
    await reading;
    expect([...statuses].filter((status) => ![200, 404, 503].includes(status))).to.deep.equal([]);
    expect(statuses).to.include(200);
  });

  it('answer 503 while the database is unreachable, and recover afterwards', async () => {
    const bridge = await openDatabaseProxy(database.url());
    const proxied = await startServiceProcess({ ...testEnvironment(bridge.url, directory()), SVC_ROLES: 'api' });
    processes.push(proxied);
    const call = caller(() => proxied.adminUrl, bearer);
    expect((await call('GET', '/api/admin/schemas')).status).to.equal(200);
    bridge.down();
    for (const [method, path] of [
      ['GET', '/api/admin/schemas'],
      ['POST', '/api/admin/schemas'],
      ['GET', '/api/admin/migrate'],
    ] as const) {
      const refused = await call(method, path, method === 'POST' ? { name: 'article' } : undefined);
      expect(statusAndError(refused), path).to.deep.equal([503, 'service unavailable']);
      expect(refused.headers['retry-after']).to.equal('1');
    }
    bridge.up();
    await eventually(async () => expect((await call('GET', '/api/admin/schemas')).status).to.equal(200));
    await proxied.end('SIGKILL');
    bridge.down();
  });
});
