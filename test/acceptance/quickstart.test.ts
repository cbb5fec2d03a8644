import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useDirectory, useDirectoryPerTest } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { runCommand } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';
import { type Quickstart, buildBundle, databaseProcess, isAlive, startQuickstart } from './quickstart.ts';

const run = promisify(execFile);

/** The account that the printed `curl` command creates. */
const ACCOUNT = { email: 'you@example.org', password: 'A-long-Password-1' };

describe('the quickstart, npm start', function () {
  this.timeout(60_000);
  const directory = useDirectoryPerTest();
  const packages = useDirectory();
  const started: Quickstart[] = [];

  before(async () => {
    await buildBundle();
  });
  beforeEach(async () => {
    // As root, the embedded server runs as an unprivileged user, who must reach its files.
    await chmod(directory(), 0o755);
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((quickstart) => quickstart.end('SIGKILL')));
    await eventually(async () => {
      expect(await databaseProcess(directory())).to.equal(undefined);
    });
  });

  function start(options?: Parameters<typeof startQuickstart>[1]): Quickstart {
    const quickstart = startQuickstart(directory(), options);
    started.push(quickstart);
    return quickstart;
  }
  async function addresses(quickstart: Quickstart): Promise<{ admin: string; content: string }> {
    const [, admin = '', content = ''] = await quickstart.printed(
      /Admin API +(\S+)\n +Content API +(\S+)\n[^]*\n {2}curl [^]*?\n\n/,
    );
    return { admin, content };
  }
  /** Runs the command that is printed in the terminal in a shell. */
  async function firstCurl(quickstart: Quickstart): Promise<Record<string, unknown>> {
    const command = /\n( {2}curl [^]*?)\n\n/.exec(quickstart.output())?.[1] ?? '';
    const { stdout } = await run('bash', ['-c', command]);
    return JSON.parse(stdout) as Record<string, unknown>;
  }
  function asOwner(quickstart: { admin: string; content: string }, token: string): { admin: Call; content: Call } {
    const bearer = { authorization: `Bearer ${token}` };
    return { admin: caller(() => quickstart.admin, bearer), content: caller(() => quickstart.content, bearer) };
  }

  it('prints both addresses, the setup token and a working curl command, keeps its data over a restart, and stops on Ctrl-C', async () => {
    const first = start();
    const printed = await addresses(first);
    for (const url of [printed.admin, printed.content])
      expect((await caller(() => url)('GET', '/readyz')).status).to.equal(200);
    expect(
      first
        .errors()
        .split('\n')
        .filter((line) => line.endsWith('…')),
      'progress while it starts',
    ).to.have.length.of.at.least(3);
    const [, setupToken = ''] = /Setup token (\S+)/.exec(first.output()) ?? [];
    expect(setupToken).to.have.length.of.at.least(16);
    const made = await firstCurl(first);
    expect(made['user']).to.deep.include({ email: ACCOUNT.email, roles: ['super_admin'] });
    const owner = asOwner(printed, String(made['token']));
    await owner.admin('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'title', field_type: 'text' }] });
    const { id } = (await owner.content('POST', '/api/v1/content/note', { data: { title: 'kept' } })).json<{
      id: string;
    }>();

    // Other commands find the running database through the data directory.
    const rebuilt = await runCommand(['rebuild', 'content'], { SVC_DATA_DIR: directory() });
    expect(rebuilt.code, rebuilt.output).to.equal(0);
    expect(rebuilt.output).to.match(/^\{"table":"rm_content\.note","rows":1,"checksum":"[^"]+"\}$/m);
    expect((await owner.content('GET', `/api/v1/content/note/${id}`)).status).to.equal(200);

    const database = await databaseProcess(directory());
    expect(database).to.be.a('number');
    expect(await first.end('SIGINT')).to.equal(0);
    expect(isAlive(database ?? 0), 'the database outlived it').to.equal(false);
    expect(first.errors(), 'stopping is silent').not.to.match(/warn|error|Error/);
    expect(first.output()).to.contain('Stopped.');

    const second = start();
    const again = await addresses(second);
    expect(second.output()).not.to.contain('Setup token');
    expect(second.output()).not.to.contain('/api/admin/setup');
    const login = await caller(() => again.admin)('POST', '/api/admin/auth/login', ACCOUNT);
    expect(login.status).to.equal(200);
    const read = await asOwner(again, login.json<{ token: string }>().token).content(
      'GET',
      `/api/v1/content/note/${id}`,
    );
    expect(read.json<{ data: object }>().data).to.deep.include({ title: 'kept' });
    expect(await second.end('SIGTERM')).to.equal(0);
  });

  it('keeps acknowledged writes after kill -9, and accepts writes as soon as it has restarted', async () => {
    const first = start();
    const printed = await addresses(first);
    const { token } = await firstCurl(first);
    const owner = asOwner(printed, String(token));
    await owner.admin('POST', '/api/admin/schemas', { name: 'note', fields: [{ name: 'n', field_type: 'integer' }] });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => owner.content('POST', '/api/v1/content/note', { data: { n } })),
    );
    expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 201));
    await first.end('SIGKILL');

    const second = start();
    const again = asOwner(await addresses(second), String(token));
    const reply = await again.content('POST', '/api/v1/content/note', { data: { n: 20 } });
    expect(reply.status).to.equal(201);
    expect(reply.headers['x-projection-lag']).to.equal(undefined);
    const list = (await again.content('GET', '/api/v1/content/note?limit=200')).json<{ data: { n: number } }[]>();
    expect(list.map(({ data }) => data.n).toSorted((a, b) => a - b)).to.deep.equal(
      Array.from({ length: 21 }, (_, n) => n),
    );
    expect(await second.end('SIGINT')).to.equal(0);
  });

  it('keeps secrets in private files, and reports a used data directory or port in one line', async () => {
    const first = start();
    const { admin } = await addresses(first);
    const files = await filesOf(directory());
    for (const name of ['secrets.json', 'jwt_key.json', 'password'])
      expect(files.map(({ path }) => path.split('/').at(-1))).to.contain(name);
    for (const { path, mode } of files) expect((mode & 0o777).toString(8), path).to.equal('600');

    const second = start();
    expect(await second.exited).to.equal(1);
    expect(second.errors()).to.match(/^palimpsest: another Palimpsest process uses .*SVC_DATA_DIR\n$/);
    const served = await runCommand(['serve'], testEnvironment('embedded', directory()));
    expect([served.code, served.output.trim().split('\n').length]).to.deep.equal([1, 1]);
    expect(served.output).to.contain('another Palimpsest process uses');
    expect((await caller(() => admin)('GET', '/readyz')).status, 'the first process keeps running').to.equal(200);
    expect(await first.end('SIGINT')).to.equal(0);

    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    const { port } = blocker.address() as AddressInfo;
    const third = start({ environment: { API_LISTEN_ADDR: `127.0.0.1:${port}` } });
    expect(await third.exited).to.equal(1);
    const complaints = third
      .errors()
      .split('\n')
      .filter((line) => line !== '' && !line.endsWith('…'));
    expect(complaints).to.have.length(1);
    expect(complaints[0]).to.match(new RegExp(`^palimpsest: .*127\\.0\\.0\\.1:${port}`));
    expect(third.output()).to.equal('');
    expect(await databaseProcess(directory())).to.equal(undefined);
    await new Promise((resolve) => blocker.close(resolve));
  });

  it('with --demo loads packages through the Content API and prints a summary and three working requests', async () => {
    for (const [name, readme] of [
      ['alpha', 'The first'],
      ['@scope/beta', 'The second'],
      ['gamma', 'The third'],
    ] as const) {
      const home = join(packages(), name);
      await mkdir(home, { recursive: true });
      await writeFile(
        join(home, 'package.json'),
        JSON.stringify({
          name,
          version: '1.0.0',
          license: 'MIT',
          description: `What ${name} does`,
          homepage: 'https://example.org/',
        }),
      );
      await writeFile(join(home, 'README.md'), `# ${name}\n\n${readme} package.\n`.repeat(name === 'alpha' ? 2000 : 1));
      if (name === 'gamma') await writeFile(join(home, 'CHANGELOG.md'), '# 1.0.0\n\nBegun.\n');
    }
    const demo = start({ args: ['--demo-from', packages()] });
    const [summary] = await demo.printed(/Loaded .*\n[^]*The same entry at an earlier .*\n.*\n/);
    expect(summary).to.match(
      /Loaded 7 entries \(3 packages, 4 documents\), \d+\.\d MB in \d+\.\d s: \d+ entries per second/,
    );
    expect(demo.output(), 'the account is made already')
      .to.match(/Created an account: \S+, password \S+ /)
      .and.not.contain('/api/admin/setup');
    expect(demo.errors(), 'progress while it loads').to.match(/Loading packages 100% \(3\/3 packages\)/);
    const requests = [...summary.matchAll(/^ {2}(curl .*)$/gm)].map(([, command = '']) => command);
    expect(requests).to.have.length(3);
    const answers = await Promise.all(
      requests.map(async (command) => (await run('bash', ['-c', `${command} -s -w '\\n%{http_code}'`])).stdout),
    );
    expect(answers.map((answer) => answer.split('\n').at(-1))).to.deep.equal(['200', '200', '200']);
    const [list, history, then] = answers.map(
      (answer) =>
        JSON.parse(answer.slice(0, answer.lastIndexOf('\n'))) as { data: { name: string; description: string } }[],
    );
    expect(list?.map(({ data }) => data.name)).to.deep.equal(['alpha']);
    expect(history).to.have.length(3);
    expect((then as unknown as { data: { description: string } }).data.description).to.contain('(edited)');
    expect(await demo.end('SIGINT')).to.equal(0);
  });
});

/** All files outside the database directory, with their permission bits. */
async function filesOf(directory: string): Promise<readonly { readonly path: string; readonly mode: number }[]> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => !name.startsWith('postgres/data'));
  const found = await Promise.all(
    names.map(async (name) => ({ path: join(directory, name), stats: await stat(join(directory, name)) })),
  );
  return found.filter(({ stats }) => stats.isFile()).map(({ path, stats }) => ({ path, mode: stats.mode }));
}
