import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { caller } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { setUpOwner } from '../support/owner.ts';
import { testEnvironment } from '../support/service.ts';

const run = promisify(execFile);
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

describe('the build', () => {
  const database = useDatabase();
  const directory = useDirectory();
  let bundle = '';
  before(async () => {
    // Inside the project, so that the bundle can import its packages.
    bundle = await mkdtemp(join(root, 'node_modules', '.palimpsest-build-'));
  });
  after(() => rm(bundle, { recursive: true, force: true }));

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

  it('runs ten times at once, and builds nothing twice', async function () {
    this.timeout(300_000);
    const start = () => run(process.execPath, ['ops/build/build.mjs'], { cwd: root });
    await start();
    const before = await realpath(join(root, 'dist'));
    const { mtimeMs } = await stat(join(before, 'palimpsest.js'));
    // Ten starts: each builds, then loads the bundle with the modules of a command.
    const help = async () => {
      await start();
      return run(process.execPath, ['dist/palimpsest.js', 'config', 'schema'], { cwd: root });
    };
    const outputs = await Promise.all(Array.from({ length: 10 }, help));
    for (const { stdout, stderr } of outputs) {
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.include({ type: 'object' });
    }
    expect(await realpath(join(root, 'dist'))).to.equal(before);
    expect((await stat(join(before, 'palimpsest.js'))).mtimeMs, 'not built again').to.equal(mtimeMs);
  });

  it('can run for the first time in ten processes at once, and keeps the files of an earlier build', async function () {
    this.timeout(300_000);
    // A copy of the sources, because other tests use the build of this project. Inside it, for the packages.
    const copy = await mkdtemp(join(root, 'node_modules', '.palimpsest-copy-'));
    const build = () => run(process.execPath, ['ops/build/build.mjs'], { cwd: copy });
    const schema = async (bundle: string) =>
      JSON.parse((await run(process.execPath, [bundle, 'config', 'schema'], { cwd: copy })).stdout) as unknown;
    try {
      for (const source of [
        'domain',
        'application',
        'projections',
        'infrastructure',
        'api',
        'ops/build',
        'package-lock.json',
      ])
        await cp(join(root, source), join(copy, source), {
          recursive: true,
          filter: (path) => !path.slice(root.length).includes('node_modules'),
        });
      // Declarations of the client, so that ten processes do not load the TypeScript compiler.
      await cp(join(root, '.cache/client-types'), join(copy, '.cache/client-types'), { recursive: true });
      await cp(join(root, 'package.json'), join(copy, 'package.json'));
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, build));
      expect(
        outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'built')),
      ).to.deep.equal(outcomes.map(() => 'built'));
      const first = await realpath(join(copy, 'dist'));
      expect(await schema(join(first, 'palimpsest.js'))).to.include({ type: 'object' });

      await appendFile(join(copy, 'infrastructure/cli/palimpsest.ts'), '\n// A change.\n');
      const builds = join(copy, '.cache/builds');
      const [killed, running] = [`${'a'.repeat(32)}.killed`, `${'b'.repeat(32)}.running`];
      await mkdir(join(builds, killed));
      await mkdir(join(builds, running));
      const longAgo = new Date(Date.now() - 7_200_000);
      await utimes(join(builds, killed), longAgo, longAgo);
      await build();
      expect(await readdir(builds))
        .to.include(running)
        .and.not.include(killed);
      expect((await readdir(copy)).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist']);
      expect(await realpath(join(copy, 'dist'))).to.not.equal(first);
      expect(await schema(join(copy, 'dist', 'palimpsest.js'))).to.include({ type: 'object' });
      expect(await schema(join(first, 'palimpsest.js')), 'a running process').to.include({ type: 'object' });
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  it('leaves license support out with PALIMPSEST_LICENSE_MODULE=false', async function () {
    this.timeout(60_000);
    await build({ PALIMPSEST_LICENSE_MODULE: 'false' });
    const child = spawn(process.execPath, [join(bundle, 'palimpsest.js'), 'serve'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        ...testEnvironment(database.url(), directory()),
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
      const authorization = `Bearer ${(await setUpOwner(call)).token}`;
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
