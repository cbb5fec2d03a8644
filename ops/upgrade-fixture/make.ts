// Creates an upgrade fixture: the data of an installation that a build has filled.
// Usage: npx tsx ops/upgrade-fixture/make.ts [--build <checkout>] [--name <name>]
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { EMBEDDED_DATABASE, embeddedDirectory } from '../../infrastructure/cli/embedded.ts';
import { findEmbeddedPostgres } from '../../infrastructure/postgres/embedded/embedded-postgres.ts';
import { caller } from '../../test/support/http.ts';
import { startReceiver } from '../../test/support/webhook-receiver.ts';
import { dumpDatabase } from './dump.ts';
import { type KeptInstall, fill } from './scenario.ts';

const { values } = parseArgs({ options: { build: { type: 'string', default: '.' }, name: { type: 'string' } } });
const build = resolve(values.build);
const commit = execFileSync('git', ['-C', build, 'rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim();
const target = resolve('test/fixtures/upgrades', values.name ?? commit);
const directory = mkdtempSync(join(tmpdir(), 'palimpsest-fixture-'));
const receiver = await startReceiver();

const child = spawn(process.execPath, ['--import', 'tsx', 'infrastructure/cli/palimpsest.ts', 'start'], {
  cwd: build,
  env: {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    SVC_DATA_DIR: directory,
    LOG_LEVEL: 'warn',
    LOG_FORMAT: 'json',
    ADMIN_LISTEN_ADDR: '127.0.0.1:0',
    API_LISTEN_ADDR: '127.0.0.1:0',
    WEBHOOK_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((done) => child.once('close', done));
try {
  const { adminUrl, contentUrl } = await printedAddresses();
  const secrets = JSON.parse(readFileSync(join(directory, 'secrets.json'), 'utf8')) as Record<string, string>;
  const install = await fill({
    admin: caller(() => adminUrl),
    content: caller(() => contentUrl),
    setupToken: secrets['SVC_SETUP_TOKEN'] ?? '',
    receiverUrl: receiver.url,
  });
  const database = await findEmbeddedPostgres(embeddedDirectory(directory));
  if (!database) throw new Error('the embedded PostgreSQL was not found');
  const url = database.url(EMBEDDED_DATABASE);
  const sql = await dumpDatabase(url);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'database.sql.gz'), gzipSync(sql, { level: 9 }));
  const kept: KeptInstall = {
    build: commit,
    secrets,
    signingKey: readFileSync(join(directory, 'jwt_key.json'), 'utf8'),
    ...install,
  };
  writeFileSync(join(target, 'install.json.gz'), gzipSync(JSON.stringify(kept), { level: 9 }));
  process.stdout.write(`${target}\n`);
} finally {
  child.kill('SIGTERM');
  await ended;
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Resolves with the addresses that the quickstart prints. */
function printedAddresses(): Promise<{ readonly adminUrl: string; readonly contentUrl: string }> {
  return new Promise((done, fail) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const [adminUrl, contentUrl] = [/Admin API\s+(\S+)/.exec(output)?.[1], /Content API\s+(\S+)/.exec(output)?.[1]];
      if (adminUrl !== undefined && contentUrl !== undefined) done({ adminUrl, contentUrl });
    });
    child.once('close', () => {
      fail(new Error(`the build exited before it listened:\n${output}`));
    });
  });
}
