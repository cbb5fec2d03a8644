import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

// One API process and two projector processes, with a short lease to keep the test short.
describe('two projector processes on one database', function () {
  this.timeout(60_000);
  const database = useDatabase();
  const processes: ServiceProcess[] = [];
  const LEASE_MS = 2_000;
  const directory = useDirectory();
  let content: Call;

  before(async () => {
    const environment = { ...testEnvironment(database.url(), directory()), SVC_LEASE_MS: String(LEASE_MS) };
    const first = await startServiceProcess({ ...environment, SVC_ROLES: 'projector' });
    const [second, api] = await Promise.all([
      startServiceProcess({ ...environment, SVC_ROLES: 'projector' }),
      startServiceProcess({ ...environment, SVC_ROLES: 'api' }),
    ]);
    processes.push(first, second, api);
    const admin = caller(() => api.adminUrl);
    const { token } = await setUpOwner(admin);
    const bearer = { authorization: `Bearer ${token}` };
    await admin('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'n', field_type: 'integer' }] }, bearer);
    const { raw_key } = (
      await admin('POST', '/api/admin/api-keys', { name: 'k', roles: ['editor'], scopes: ['content:*'] }, bearer)
    ).json<{ raw_key: string }>();
    content = caller(() => api.contentUrl, { 'x-api-key': raw_key });
  });
  after(async () => {
    for (const process of processes) process.child.kill('SIGCONT');
    await Promise.all(processes.map((process) => process.end('SIGKILL')));
  });

  async function owners(): Promise<readonly { owner: string; epoch: number }[]> {
    return database
      .db()
      .query(
        `select distinct owner, max(epoch)::int as epoch from operational.leases where name like 'projection/content%' and expires_at > clock_timestamp() group by owner`,
      );
  }
  async function create(n: number) {
    const reply = await content('POST', '/api/v1/content/note', { data: { n } });
    expect(reply.status).to.equal(201);
    return reply;
  }
  async function readable(id: string): Promise<void> {
    expect((await content('GET', `/api/v1/content/note/${id}`)).status).to.equal(200);
  }

  it('let one of them project, and a write is readable when it is acknowledged', async () => {
    expect(await owners()).to.have.length(1);
    const reply = await create(1);
    expect(reply.headers['x-projection-lag']).to.equal(undefined);
    await readable(reply.json<{ id: string }>().id);
  });

  it('serve only probes and metrics', async () => {
    const projector = caller(() => processes[0]?.contentUrl ?? '');
    expect((await projector('GET', '/readyz')).status).to.equal(200);
    expect((await projector('GET', '/api/v1/content/note')).json()).to.include({
      error: 'The requested endpoint does not exist.',
    });
  });

  it('replace a suspended lease holder, and fence its writes when it resumes', async () => {
    const [before] = await owners();
    const [owner] = holder(before?.owner);
    owner?.child.kill('SIGSTOP');
    const { id } = (await create(2)).json<{ id: string }>();
    await eventually(() => readable(id), { timeoutMs: 40_000 });
    const [after] = await owners();
    expect(after?.owner).not.to.equal(before?.owner);
    owner?.child.kill('SIGCONT');
    for (let n = 0; n < 20; n += 1) await create(100 + n);
    expect((await content('GET', '/api/v1/content/note?limit=200')).json<unknown[]>()).to.have.length(22);
    expect((await owners())[0]?.owner).to.equal(after?.owner);
  });

  it('replace a killed lease holder', async () => {
    const [before] = await owners();
    const [owner] = holder(before?.owner);
    await owner?.end('SIGKILL');
    const { id } = (await create(3)).json<{ id: string }>();
    await eventually(() => readable(id), { timeoutMs: 40_000 });
    expect((await owners())[0]?.owner).not.to.equal(before?.owner);
  });

  /** The projector process that owns the lease. Owners are named `<host>/<process id>/<random>`. */
  function holder(owner: string | undefined): readonly ServiceProcess[] {
    return processes.filter(({ child }) => owner?.split('/')[1] === String(child.pid));
  }
});
