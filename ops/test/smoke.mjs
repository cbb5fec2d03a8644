// Smoke test of the built service on the Node that runs this script: `node ops/test/smoke.mjs`, after `npm run build`.
// Starts `palimpsest start` on embedded defaults in a temporary data directory, waits for /readyz, creates the first
// account, a content type and an entry, reads the entry, and stops the service. Exits with 1 and the service's output
// at the first wrong answer. Takes about 10 seconds.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;

const bundle = fileURLToPath(new URL('../../dist/palimpsest.js', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'palimpsest-smoke-'));
// As root, the embedded PostgreSQL runs as an unprivileged user, who must reach its files.
await chmod(directory, 0o755);
const service = startService();
try {
  const { admin, content, setupToken } = await service.printedAddresses();
  for (const url of [admin, content]) await request('GET', `${url}/readyz`, { expected: 200 });
  const { token } = await request('POST', `${admin}/api/admin/setup`, {
    expected: 201,
    body: { email: 'smoke@example.org', password: `Smoke-test-${randomUUID()}`, setup_token: setupToken },
  });
  const schema = { name: 'note', fields: [{ name: 'title', field_type: 'text' }] };
  await request('POST', `${admin}/api/admin/schemas`, { expected: 200, token, body: schema });
  const created = await request('POST', `${content}/api/v1/content/note`, {
    expected: 201,
    token,
    body: { data: { title: 'smoke' } },
  });
  const read = await request('GET', `${content}/api/v1/content/note/${created.id}`, { expected: 200, token });
  if (read.data?.title !== 'smoke') throw new Error(`read another entry than created: ${JSON.stringify(read)}`);
  const code = await service.stop();
  if (code !== 0) throw new Error(`the service exited with ${code} after SIGTERM`);
  console.log(`smoke test passed on Node ${process.version}`);
} catch (error) {
  console.error(`smoke test failed on Node ${process.version}: ${error.message}\n${service.output()}`);
  process.exitCode = 1;
} finally {
  await service.kill();
  await rm(directory, { recursive: true, force: true });
}

function startService() {
  const child = spawn(process.execPath, [bundle, 'start'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SVC_DATA_DIR: directory,
      ADMIN_LISTEN_ADDR: '127.0.0.1:0',
      API_LISTEN_ADDR: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close').then(([code]) => code);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));

  /** Resolves when the service has printed its addresses and setup token, which it does when it is ready. */
  async function printedAddresses() {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (child.exitCode === null && Date.now() < deadline) {
      const [, admin, content] = /Admin API +(\S+)\n +Content API +(\S+)\n/.exec(output) ?? [];
      const [, setupToken] = /Setup token (\S+)\n/.exec(output) ?? [];
      if (admin && content && setupToken) return { admin, content, setupToken };
      await Promise.race([once(child.stdout, 'data'), exited, pause(1_000)]);
    }
    throw new Error('the service did not print its addresses');
  }

  async function kill() {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  }

  /** Sends SIGTERM. @returns the exit code, undefined after the time-out */
  async function stop() {
    child.kill('SIGTERM');
    return Promise.race([exited, pause(STOP_TIMEOUT_MS)]);
  }

  return { printedAddresses, stop, kill, output: () => output };
}

/** Sends a request. @returns the parsed JSON body @throws when the status is not `expected` */
async function request(method, url, { expected, token, body }) {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== expected) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
