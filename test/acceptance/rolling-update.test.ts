import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { nextBuildOptions } from './next-build.ts';

describe('a rolling update to a build with another version of a read model', function () {
  this.timeout(120_000);
  const processes: ServiceProcess[] = [];
  // Hooks run in the order of their registration: stop the processes before their database is dropped.
  after(() => Promise.all(processes.map((process) => process.end('SIGKILL'))));
  const database = useDatabase();
  const directory = useDirectory();
  let key = '';

  async function start(extra: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    const process = await startServiceProcess({ ...testEnvironment(database.url(), directory()), ...extra });
    processes.push(process);
    return process;
  }
  const contentOf = (process: ServiceProcess): Call => caller(() => process.contentUrl, { 'x-api-key': key });
  const readiness = (process: ServiceProcess) => caller(() => process.contentUrl)('GET', '/readyz');

  /** The first process that is ready, as a load balancer selects it. At every time one is. */
  async function readyOf(candidates: readonly ServiceProcess[]): Promise<ServiceProcess> {
    for (const process of candidates) if ((await readiness(process)).status === 200) return process;
    throw new Error('no process is ready');
  }

  /** Creates an entry and reads it, at processes that are ready. */
  async function writeAndRead(candidates: readonly ServiceProcess[], title: string): Promise<ServiceProcess> {
    const process = await readyOf(candidates);
    const created = await contentOf(process)('POST', '/api/v1/content/note', { data: { title } });
    expect(created.status, created.text).to.equal(201);
    expect(created.headers, title).not.to.have.property('x-projection-lag');
    const { id } = created.json<{ id: string }>();
    const read = await contentOf(await readyOf(candidates))('GET', `/api/v1/content/note/${id}`);
    expect(read.status, read.text).to.equal(200);
    return process;
  }

  it('serves every write and reads each own write, and the next build is ready when its tables are filled', async () => {
    const old = await start();
    const admin = caller(() => old.adminUrl);
    const { token } = await setUpOwner(admin);
    const bearer = { authorization: `Bearer ${token}` };
    const type = { name: 'note', fields: [{ name: 'title', field_type: 'text' }] };
    expect((await admin('POST', '/api/admin/schemas', type, bearer)).status).to.equal(200);
    const keyOptions = { name: 'k', roles: ['editor'], scopes: ['content:*'] };
    key = (await admin('POST', '/api/admin/api-keys', keyOptions, bearer)).json<{ raw_key: string }>().raw_key;
    for (let n = 0; n < 20; n += 1) await writeAndRead([old], `before ${String(n)}`);

    const gate = join(directory(), 'gate');
    const next = await start({ NODE_OPTIONS: nextBuildOptions(gate) });
    const both = [old, next];
    expect((await readiness(next)).json()).to.deep.include({ reasons: ['read model being built: content'] });
    for (let n = 0; n < 20; n += 1) expect(await writeAndRead(both, `during ${String(n)}`)).to.equal(old);

    let isReplaced = false;
    const writers = [1, 2, 3].map(async (writer) => {
      for (let n = 0; !isReplaced; n += 1) await writeAndRead(both, `swap ${String(writer)} ${String(n)}`);
    });
    await writeFile(gate, '');
    const replacement = eventually(
      async () => {
        expect((await readiness(next)).status).to.equal(200);
        expect((await readiness(old)).json()).to.deep.include({ reasons: ['read model replaced: content'] });
      },
      { timeoutMs: 60_000 },
    ).finally(() => {
      isReplaced = true;
    });
    await Promise.all([replacement, ...writers]);

    for (let n = 0; n < 20; n += 1) expect(await writeAndRead(both, `after ${String(n)}`)).to.equal(next);
    await old.end('SIGTERM');
    await writeAndRead([next], 'alone');
  });

  it('leaves the read model of a later build alone when the earlier build starts again', async () => {
    const [, next] = processes as [ServiceProcess, ServiceProcess];
    const again = await start();
    expect((await readiness(again)).json()).to.deep.include({ reasons: ['read model replaced: content'] });
    await writeAndRead([again, next], 'beside an earlier build');
    expect(again.output()).to.contain('a read model was replaced by another version');
  });
});
