import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useDatabase } from '../support/database.ts';
import { caller } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { OWNER, SETUP_TOKEN, testEnvironment } from '../support/service.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

describe('PALIMPSEST_LICENSE_MODULE=false npm run build', () => {
  const database = useDatabase();
  let directory = '';
  let bundle = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'palimpsest-build-'));
    // Inside the project, where packages are found.
    bundle = await mkdtemp(join(root, 'node_modules', '.palimpsest-build-'));
  });
  after(() => Promise.all([directory, bundle].map((path) => rm(path, { recursive: true, force: true }))));

  it('makes a build without license support', async function () {
    this.timeout(60_000);
    await promisify(execFile)(process.execPath, ['ops/build/build.mjs', bundle], { cwd: root, env: { ...process.env, PALIMPSEST_LICENSE_MODULE: 'false' } });
    const child = spawn(process.execPath, [join(bundle, 'palimpsest.js'), 'serve'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...testEnvironment(database.url(), directory), ...licenseEnvironment(), LOG_LEVEL: 'info' },
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
          reject(new Error('the service ended before it listened'));
        });
      });
      const call = caller(() => url);
      const setup = await call('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
      const authorization = `Bearer ${setup.json<{ token: string }>().token}`;
      expect((await call('GET', '/api/admin/license', undefined, { authorization })).status).to.equal(404);
      expect((await call('POST', '/api/admin/license/renew', { license_key: 'x' }, { authorization })).status).to.equal(404);
      expect((await call('GET', '/api/admin/entitlements', undefined, { authorization })).json()).to.deep.include({ license_module: false, capabilities: [], plan: 'free' });
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
  });
});
