import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { admin, serverUrl } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { caller } from '../support/http.ts';
import { OWNER, SETUP_TOKEN } from '../support/owner.ts';
import { type ServiceProcess, runCommand, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

describe('palimpsest serve', function () {
  this.timeout(60_000);
  const directory = useDirectory();

  describe('with settings that are not allowed in production', () => {
    const secrets = {
      JWT_SECRET: 'hunter2-short',
      ENCRYPTION_KEY: 'changeme-changeme-changeme-changeme',
      SVC_AUDIT_HMAC_KEY: 'not-hex-at-all-qq',
      DATABASE_URL: 'postgres://postgres:sup3r-pass@127.0.0.1:1/x',
    };
    const bad = {
      ...secrets,
      APP_ENV: 'production',
      SECURE_COOKIE: 'false',
      RATE_LIMIT_RPS: '0',
      JWT_EXPIRY_SECS: '7200',
      CORS_ORIGINS: '*',
      EVENT_STORE_URL: 'memory',
      SVC_CONSOLE_URL: 'http://console.example.org',
      LOG_LEVEL: 'loud',
    };

    it('refuses to start, lists every problem without showing values, and exits with 1', async () => {
      const keyPath = join(directory(), 'open_key.json');
      await writeFile(keyPath, '{}');
      await chmod(keyPath, 0o644);
      const { code, output } = await runCommand(['serve'], { ...bad, JWT_KEY_PATH: keyPath });
      expect(code).to.equal(1);
      for (const variable of [
        ...Object.keys(secrets),
        'SECURE_COOKIE',
        'RATE_LIMIT_RPS',
        'JWT_EXPIRY_SECS',
        'CORS_ORIGINS',
        'EVENT_STORE_URL',
        'SVC_CONSOLE_URL',
        'LOG_LEVEL',
        'JWT_KEY_PATH',
      ]) {
        expect(output, variable).to.match(new RegExp(`^ {2}${variable}: .+$`, 'm'));
      }
      for (const value of [...Object.values(secrets), 'sup3r-pass']) expect(output).not.to.contain(value);
      expect(output, 'a message, no stack').not.to.match(/^\s+at /m);
    });

    it('refuses the embedded database and missing secrets', async () => {
      const { code, output } = await runCommand(['serve'], { DATABASE_URL: 'embedded', SVC_DATA_DIR: directory() });
      expect(code).to.equal(1);
      for (const variable of [
        'DATABASE_URL',
        'JWT_SECRET',
        'ENCRYPTION_KEY',
        'SVC_AUDIT_HMAC_KEY',
        'SECURE_COOKIE',
        'RATE_LIMIT_RPS',
      ])
        expect(output).to.match(new RegExp(`^ {2}${variable}: `, 'm'));
    });

    it('ignores a short setup token with a warning, and prints a one-time token that works', async () => {
      const database = `setup_${randomBytes(5).toString('hex')}`;
      await admin(`create database ${database}`);
      const service = await startServiceProcess({
        ...testEnvironment(serverUrl(database), directory()),
        SVC_SETUP_TOKEN: 'tiny-token',
      });
      const output = service.output();
      expect(output)
        .to.match(/"level":"warn".*SVC_SETUP_TOKEN/)
        .and.not.contain('tiny-token');
      const [, token = ''] = /"one_time":"([^"]+)"/.exec(output) ?? [];
      const call = caller(() => service.adminUrl);
      const refused = await call('POST', '/api/admin/setup', { ...OWNER, setup_token: 'tiny-token' });
      const setup = await call('POST', '/api/admin/setup', { ...OWNER, setup_token: token });
      await service.end('SIGTERM');
      await admin(`drop database ${database} with (force)`);
      expect([refused.status, setup.status]).to.deep.equal([403, 201]);
    });

    it('reports an unreachable database in one line', async () => {
      const { code, output } = await runCommand(
        ['serve'],
        testEnvironment('postgres://palimpsest:pw-of-nobody@127.0.0.1:1/none', directory()),
      );
      expect(code).to.equal(1);
      expect(output.trim().split('\n')).to.have.length(1);
      expect(output).to.contain('ECONNREFUSED').and.not.contain('pw-of-nobody');
    });
  });

  describe('in production, with an unprivileged database role', () => {
    const name = `prod_${randomBytes(5).toString('hex')}`;
    let environment: Readonly<Record<string, string>>;
    let service: ServiceProcess | undefined;

    before(async () => {
      await admin(`create role ${name} login password '${name}'`);
      await admin(`create database ${name} owner ${name}`);
      const url = new URL(serverUrl(name));
      url.username = name;
      url.password = name;
      environment = {
        ...testEnvironment(url.toString(), directory()),
        APP_ENV: 'production',
        SECURE_COOKIE: 'true',
        RATE_LIMIT_RPS: '1000',
        TRUSTED_PROXIES: '127.0.0.1/32',
        SVC_CONSOLE_URL: 'https://console.example.org',
        JWT_KEY_PATH: join(directory(), 'production_key.json'),
      };
    });
    after(async () => {
      await service?.end('SIGKILL');
      await admin(`drop database if exists ${name} with (force)`);
      await admin(`drop role if exists ${name}`);
    });

    it('starts, logs JSON lines, redirects http to https except for probes, and sets secure cookies', async () => {
      service = await startServiceProcess(environment);
      const { adminUrl, contentUrl } = service;
      for (const line of service.output().trim().split('\n'))
        expect(() => JSON.parse(line) as unknown, line).not.to.throw();
      const plain = caller(() => adminUrl);
      expect((await plain('GET', '/readyz')).status).to.equal(200);
      expect((await plain('GET', '/api/admin/setup')).status).to.equal(308);
      expect((await caller(() => contentUrl)('GET', '/.well-known/jwks.json')).status).to.equal(200);
      const proxied = caller(() => adminUrl, { 'x-forwarded-proto': 'https' });
      const setup = await proxied('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
      expect(setup.status).to.equal(201);
      const login = await proxied('POST', '/api/admin/auth/login', OWNER);
      expect(login.headers['set-cookie']).to.match(/^__Host-sys_session=.*; Secure/);
      expect(login.headers['strict-transport-security']).to.be.a('string');
    });

    it('on SIGTERM finishes requests in flight, reports not ready, refuses new requests and exits with 0', async () => {
      if (!service) throw new Error('the test before starts it');
      const running = service;
      const proxied = { 'x-forwarded-proto': 'https' };
      const { token } = (await caller(() => running.adminUrl, proxied)('POST', '/api/admin/auth/login', OWNER)).json<{
        token: string;
      }>();
      const bearer = { ...proxied, authorization: `Bearer ${token}` };
      const made = await caller(() => running.adminUrl, bearer)('POST', '/api/admin/schemas', {
        name: 'note',
        fields: [{ name: 'n', field_type: 'integer' }],
      });
      expect(made.status).to.equal(200);

      // Lock the head of the log, so that the write waits until the test releases the lock.
      const blocker = new pg.Client({ connectionString: serverUrl(name) });
      await blocker.connect();
      await blocker.query('begin');
      await blocker.query('select 1 from eventstore.head for update');
      const socket = connect(Number(new URL(running.contentUrl).port), '127.0.0.1');
      let answers = '';
      socket.on('data', (chunk: Buffer) => {
        answers += chunk.toString();
      });
      const ended = once(socket, 'close');
      const body = JSON.stringify({ data: { n: 1 } });
      const head = ['Host: localhost', ...Object.entries(bearer).map(([header, value]) => `${header}: ${value}`)].join(
        '\r\n',
      );
      socket.write(
        `POST /api/v1/content/note HTTP/1.1\r\n${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await eventually(async () => {
        const { rows } = await blocker.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        expect(rows[0]?.waiting).to.be.greaterThan(0);
      });

      running.child.kill('SIGTERM');
      for (const url of [running.adminUrl, running.contentUrl]) {
        await eventually(async () => {
          const outcome = await caller(() => url)('GET', '/healthz').then(
            () => 'answered',
            () => 'refused',
          );
          expect(outcome, 'new connections').to.equal('refused');
        });
      }
      // A request on an open connection gets the response that the service is shutting down.
      socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await blocker.query('rollback');
      await blocker.end();
      await ended;
      expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).to.deep.equal(['201', '503']);
      expect(answers).to.contain('"shutting down"');
      expect(await running.exited).to.equal(0);
      const complaints = running
        .output()
        .split('\n')
        .filter((line) => /"level":"(?:warn|error)"/.test(line) && !line.includes('"message":"a probe fails"'));
      expect(complaints, 'beside the refused probe').to.deep.equal([]);

      service = await startServiceProcess(environment);
      const again = service;
      const list = (await caller(() => again.contentUrl, bearer)('GET', '/api/v1/content/note')).json<
        { data: { n: number } }[]
      >();
      expect(list.map(({ data }) => data.n)).to.deep.equal([1]);
    });
  });
});
