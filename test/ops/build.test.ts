import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useDatabase } from '../support/database.ts';
import { caller } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { OWNER, SETUP_TOKEN, testEnvironment } from '../support/service.ts';

const run = promisify(execFile);
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

describe('the build', () => {
  const database = useDatabase();
  let directory = '';
  let bundle = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'palimpsest-build-'));
    // Inside the project, so that the bundle can import its packages.
    bundle = await mkdtemp(join(root, 'node_modules', '.palimpsest-build-'));
  });
  after(() => Promise.all([directory, bundle].map((path) => rm(path, { recursive: true, force: true }))));

  async function build(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    await run(process.execPath, ['ops/build/build.mjs', bundle], {
      cwd: root,
      env: { ...process.env, ...environment },
    });
  }

  it('writes source maps, so that stack traces name the sources', async function () {
    this.timeout(60_000);
    await build();
    const modules = (await readdir(bundle)).filter((name) => name.endsWith('.js'));
    expect(modules).to.not.be.empty;
    for (const name of modules) {
      const text = await readFile(join(bundle, name), 'utf8');
      expect(text, name).to.match(new RegExp(`^//# sourceMappingURL=${name}\\.map$`, 'm'));
    }
    expect(await readFile(join(bundle, 'palimpsest.js'), 'utf8')).to.contain('process.setSourceMapsEnabled(true)');
    const replay = modules.find((name) => name.startsWith('replay-')) ?? '';
    const program = `const { run } = await import('./${replay}'); await run(undefined).catch((e) => console.log(e.stack));`;
    const options = { cwd: bundle };
    const { stdout } = await run(
      process.execPath,
      ['--enable-source-maps', '--input-type=module', '-e', program],
      options,
    );
    expect(stdout).to.match(/infrastructure\/cli\/replay\.ts:\d+:\d+/);
  });

  it('leaves license support out with PALIMPSEST_LICENSE_MODULE=false', async function () {
    this.timeout(60_000);
    await build({ PALIMPSEST_LICENSE_MODULE: 'false' });
    const child = spawn(process.execPath, [join(bundle, 'palimpsest.js'), 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        ...testEnvironment(database.url(), directory),
        ...licenseEnvironment(),
        LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    try {
      const url = await new Promise<string>((resolve, reject) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          const entry = JSON.parse(line) as Record<string, unknown>;
          if (entry['message'] === 'listening') resolve(String(entry['admin']));
        });
        void ended.then(() => {
          reject(new Error('the service exited before it listened'));
        });
      });
      const call = caller(() => url);
      const setup = await call('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
      const authorization = `Bearer ${setup.json<{ token: string }>().token}`;
      expect((await call('GET', '/api/admin/license', undefined, { authorization })).status).to.equal(404);
      expect((await call('POST', '/api/admin/license/renew', { license_key: 'x' }, { authorization })).status).to.equal(
        404,
      );
      expect((await call('GET', '/api/admin/entitlements', undefined, { authorization })).json()).to.deep.include({
        license_module: false,
        capabilities: [],
        plan: 'free',
      });
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
});
