import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

describe('a unique value that two processes write concurrently', () => {
  const directory = useDirectory();
  const processes: ServiceProcess[] = [];
  const calls: Call[] = [];

  after(async () => {
    for (const one of processes) await one.end('SIGKILL');
  });
  const database = useDatabase();
  before(async function () {
    this.timeout(60_000);
    const environment = testEnvironment(database.url(), directory());
    processes.push(await startServiceProcess(environment), await startServiceProcess(environment));
    const [first] = processes;
    const admin = caller(() => first?.adminUrl ?? '');
    const { token } = await setUpOwner(admin);
    const owner = { authorization: `Bearer ${token}` };
    await admin(
      'POST',
      '/api/admin/schemas',
      { name: 'member', fields: [{ name: 'handle', field_type: 'text', unique: true }] },
      owner,
    );
    for (const { contentUrl } of processes) {
      const send = caller(() => contentUrl);
      calls.push((method, path, body, headers) => send(method, path, body, { ...owner, ...headers }));
    }
  });

  const create = (call: Call | undefined, handle: string) => {
    if (!call) throw new Error('no process');
    return call('POST', '/api/v1/content/member', { data: { handle } });
  };

  it('is stored by exactly one of a hundred creates', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, (_, n) => create(calls[n % 2], 'ada')));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(1);
    const refused = replies.filter(({ status }) => status === 409);
    expect(refused).to.have.length(99);
    expect(refused[0]?.json()).to.deep.include({
      error: 'unique value already held',
      fields: [{ field: 'handle', message: 'unique value already held' }],
    });
  });

  it('is stored by exactly one of a hundred updates and creates', async () => {
    const mine = (await create(calls[0], 'mine')).json<{ id: string }>().id;
    const replies = await Promise.all(
      Array.from({ length: 100 }, async (_, n) =>
        n % 4 === 0
          ? calls[n % 2]?.('PUT', `/api/v1/content/member/${mine}`, { data: { handle: 'byron' } })
          : create(calls[n % 2], 'byron'),
      ),
    );
    const winners = replies.filter((reply) => reply?.status === 201);
    const updates = replies.filter((reply) => reply?.status === 200);
    expect(winners.length === 1 ? updates.length : winners.length).to.equal(0);
    expect(winners.length + Math.min(updates.length, 1)).to.equal(1);
    const list = await calls[1]?.('GET', '/api/v1/content/member?filters[handle]=byron&limit=200');
    expect(list?.json<object[]>()).to.have.length(1);
  });

  it('stays free when its process is killed while the append waits', async function () {
    this.timeout(60_000);
    await database.db().transaction(async (tx) => {
      // Lock the head of the log, so that the append waits.
      await tx.query('lock table eventstore.head in access exclusive mode');
      const dying = create(calls[1], 'lovelace').catch(() => undefined);
      await eventually(async () => {
        expect(await waitingForLock()).to.have.length(1);
      });
      await processes[1]?.end('SIGKILL');
      await dying;
      // Also end its database connections, as the failure of its machine would do.
      await tx.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      await eventually(async () => {
        expect(await waitingForLock()).to.have.length(0);
      });
    });
    expect((await create(calls[0], 'lovelace')).status).to.equal(201);
  });

  const waitingForLock = () =>
    database
      .db()
      .query(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
});
