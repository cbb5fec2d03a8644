import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { type Call, caller } from '../support/http.ts';
import { OWNER, SETUP_TOKEN, setUpOwner } from '../support/owner.ts';
import { type ServiceProcess, runCommand, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

type Setting = {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  readonly overridable: boolean;
  readonly secret: boolean;
};

describe('the settings of a running service', function () {
  this.timeout(60_000);
  const directory = useDirectory();
  let running: ServiceProcess | undefined;
  let environment: Readonly<Record<string, string>> = {};
  let owner: Call;

  after(async () => {
    await running?.end('SIGTERM');
  });
  const database = useDatabase();
  before(async () => {
    await writeFile(
      join(directory(), 'svc.yaml'),
      [
        'cors_max_age: 111',
        'jwt: { expiry_secs: !overridable 600 }',
        'kafka_client_id: ${CLIENT:-from-file}',
        'schemas:',
        '  - { name: story, fields: [{ name: author, field_type: relation, relation_to: teller, relation_type: belongs_to }] }',
        '  - { name: teller, fields: [{ name: name, field_type: text }] }',
      ].join('\n'),
    );
    environment = {
      ...testEnvironment(database.url(), directory()),
      SVC_CONFIG: join(directory(), 'svc.yaml'),
      REFRESH_TOKEN_TTL_SECS: '7000',
      SVC_OVERRIDABLE: 'REFRESH_TOKEN_TTL_SECS',
    };
    await start();
    await setUpOwner(caller(() => running?.adminUrl ?? ''));
    await signIn();
  });

  async function start(): Promise<void> {
    await running?.end('SIGTERM');
    running = await startServiceProcess(environment);
  }

  async function signIn(): Promise<void> {
    const admin = caller(() => running?.adminUrl ?? '');
    const { token } = (await admin('POST', '/api/admin/auth/login', OWNER)).json<{ token: string }>();
    owner = (method, path, body, headers) =>
      admin(method, path, body, { authorization: `Bearer ${token}`, ...headers });
  }

  async function settings(): Promise<ReadonlyMap<string, Setting>> {
    const { settings: all } = (await owner('GET', '/api/admin/config')).json<{ settings: Setting[] }>();
    return new Map(all.map((setting) => [setting.key, setting]));
  }

  it('are listed with the source of each value', async () => {
    const all = await settings();
    expect(all.get('CORS_MAX_AGE')).to.deep.include({ value: 111, source: 'file', overridable: false });
    expect(all.get('JWT_EXPIRY_SECS')).to.deep.include({ value: 600, source: 'file', overridable: true });
    expect(all.get('KAFKA_CLIENT_ID')).to.deep.include({ value: 'from-file', source: 'file' });
    expect(all.get('REFRESH_TOKEN_TTL_SECS')).to.deep.include({
      value: 7000,
      source: 'environment',
      overridable: true,
    });
    expect(all.get('PASSWORD_MIN_LENGTH')).to.deep.include({ value: 12, source: 'default', overridable: true });
    expect(all.get('ENCRYPTION_KEY')).to.deep.include({ value: '********', secret: true, overridable: false });
  });

  it('can be saved one by one, and take effect at the next start', async () => {
    const reply = await owner('PUT', '/api/admin/config', {
      values: {
        JWT_EXPIRY_SECS: 300,
        REFRESH_TOKEN_TTL_SECS: '8000',
        METRICS_TOKEN: 'a-token-of-the-console',
        CORS_MAX_AGE: 5,
        NO_SUCH: 'x',
        PASSWORD_MIN_LENGTH: 'many',
        DATABASE_URL: 'postgres://a/b',
        JWT_SECRETS: 'short',
      },
    });
    expect(reply.status).to.equal(200);
    const { saved, refused } = reply.json<{ saved: string[]; refused: { key: string; reason: string }[] }>();
    expect(saved).to.have.members(['JWT_EXPIRY_SECS', 'REFRESH_TOKEN_TTL_SECS', 'METRICS_TOKEN']);
    expect(Object.fromEntries(refused.map(({ key, reason }) => [key, reason]))).to.deep.equal({
      CORS_MAX_AGE: 'svc.yaml sets it; the tag !overridable lets the console take it over',
      NO_SUCH: 'there is no such setting',
      PASSWORD_MIN_LENGTH: 'set it to a whole number from 8 to 72',
      DATABASE_URL: 'it is needed before the console can be read: set it in the environment or in svc.yaml',
      JWT_SECRETS: 'JWT_SECRETS: make each of them at least 16 characters long',
    });
    expect((await settings()).get('METRICS_TOKEN')).to.deep.include({ value: '********', source: 'console' });
    await start();
    await signIn();
    const login = await owner('POST', '/api/admin/auth/login', OWNER);
    expect(login.json<{ expires_in: number }>().expires_in).to.equal(300);
    expect(
      (
        await caller(() => running?.adminUrl ?? '')('GET', '/api/admin/metrics', undefined, {
          authorization: 'Bearer a-token-of-the-console',
        })
      ).status,
    ).to.equal(200);
  });

  it('are stored without secrets in plain text', async () => {
    const [row] = await database
      .db()
      .query<{ found: boolean }>(
        `select exists (select 1 from eventstore.events where data::text like '%a-token-of-the-console%') as found`,
      );
    expect(row?.found).to.equal(false);
  });

  it('keep a secret that is saved in masked form, and remove it when the value is empty', async () => {
    expect((await owner('PUT', '/api/admin/config', { values: { METRICS_TOKEN: '********' } })).json()).to.deep.equal({
      saved: ['METRICS_TOKEN'],
      refused: [],
    });
    expect((await settings()).get('METRICS_TOKEN')).to.deep.include({ value: '********', source: 'console' });
    await owner('PUT', '/api/admin/config', { values: { METRICS_TOKEN: '', JWT_EXPIRY_SECS: null } });
    expect((await settings()).get('METRICS_TOKEN')).to.deep.include({ value: null, source: 'default' });
    expect((await settings()).get('JWT_EXPIRY_SECS')).to.deep.include({ value: 600, source: 'file' });
  });

  it('are refused with 409 when none of them can be saved', async () => {
    const reply = await owner('PUT', '/api/admin/config', { values: { NO_SUCH: '1' } });
    expect(reply.status).to.equal(409);
    expect(reply.json()).to.deep.include({
      saved: [],
      refused: [{ key: 'NO_SUCH', reason: 'there is no such setting' }],
    });
  });

  it('are judged together: settings that need each other can be sent in one request', async () => {
    const pairs = {
      SMTP_FROM: 'cms@palimpsest.test',
      SMTP_HOST: 'mail.palimpsest.test',
      SMTP_PASS: 'a-password-of-the-mail-server',
      SMTP_USER: 'cms',
      KAFKA_SASL_USERNAME: 'palimpsest',
      KAFKA_SASL_PASSWORD: 'a-password-of-the-brokers',
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
    };
    const save = async (values: object) => (await owner('PUT', '/api/admin/config', { values })).json();
    expect(await save(pairs)).to.deep.equal({ saved: Object.keys(pairs), refused: [] });
    const half = { SMTP_HOST: null, PASSWORD_MIN_LENGTH: 14, TLS_CERT_FILE: '/etc/tls/a.pem' };
    expect(await save(half), 'half of a pair').to.deep.equal({
      saved: ['PASSWORD_MIN_LENGTH'],
      refused: [
        { key: 'SMTP_HOST', reason: 'SMTP_HOST: set SMTP_HOST and SMTP_FROM together' },
        { key: 'TLS_CERT_FILE', reason: 'TLS_CERT_FILE: set TLS_CERT_FILE and TLS_KEY_FILE together' },
      ],
    });
    await start();
    await signIn();
    const all = await settings();
    for (const key of ['SMTP_HOST', 'SMTP_FROM', 'SMTP_USER', 'SMTP_PASS', 'KAFKA_SASL_PASSWORD'])
      expect(all.get(key), key).to.include({ source: 'console' });
    expect(running?.output()).to.not.contain('would refuse to start');
    const cleared = Object.fromEntries([...Object.keys(pairs), 'PASSWORD_MIN_LENGTH'].map((key) => [key, null]));
    expect(await save(cleared)).to.deep.include({ refused: [] });
  });

  it('create the content types that the settings file declares, once', async () => {
    expect((await owner('GET', '/api/admin/schemas/story')).status).to.equal(200);
    const [row] = await database
      .db()
      .query<{ events: number }>(`select count(*) as events from eventstore.events where type = 'ContentTypeSaved'`);
    expect(row?.events).to.equal(2);
  });

  it('prevent the start when a declared content type cannot be applied', async () => {
    await writeFile(
      join(directory(), 'broken.yaml'),
      'schemas:\n  - { name: story, fields: [{ name: author, field_type: no_such_type }] }\n',
    );
    const { code, output } = await runCommand(['serve'], {
      ...environment,
      SVC_CONFIG: join(directory(), 'broken.yaml'),
    });
    expect(code).to.equal(1);
    expect(output).to.contain('content type "story" of the settings file').and.contain('invalid schema');
  });
});

describe('palimpsest config', () => {
  const directory = useDirectory();

  it('check prints all problems of the settings at once, without secrets', async () => {
    const { code, output } = await runCommand(['config', 'check'], {
      ENCRYPTION_KEY: 'short-one',
      CORS_MAX_AGE: 'many',
    });
    expect(code).to.equal(1);
    for (const variable of [
      'DATABASE_URL',
      'JWT_SECRET',
      'ENCRYPTION_KEY',
      'CORS_MAX_AGE',
      'SECURE_COOKIE',
      'RATE_LIMIT_RPS',
      'SVC_AUDIT_HMAC_KEY',
    ])
      expect(output).to.match(new RegExp(`^${variable}: `, 'm'));
    expect(output).to.not.contain('short-one');
  });

  it('check finds no problem in what the first start of the quickstart uses, and creates nothing', async () => {
    const absent = join(directory(), 'absent');
    const { code, output } = await runCommand(['config', 'check', '--quickstart'], { SVC_DATA_DIR: absent });
    expect([code, output]).to.deep.equal([0, 'The settings are valid.\n']);
    expect(existsSync(absent)).to.equal(false);
  });

  it('print shows every value with its source, and masks secrets', async () => {
    const { code, output } = await runCommand(
      ['config', 'print', '--json'],
      testEnvironment('postgres://app@db/x', '/nowhere'),
    );
    expect(code).to.equal(0);
    const { settings } = JSON.parse(output) as { settings: Setting[] };
    expect(settings.find(({ key }) => key === 'JWT_SECRET')).to.include({ value: '********', source: 'environment' });
    expect(settings.find(({ key }) => key === 'CORS_MAX_AGE')).to.include({ value: 3600, source: 'default' });
  });

  it('print shows durations with their unit', async () => {
    const { output } = await runCommand(['config', 'print'], {
      ...testEnvironment('postgres://app@db/x', '/nowhere'),
      DATABASE_READ_TIMEOUT: '90s',
      DATABASE_LOCK_TIMEOUT: '0',
    });
    const shown = new Map(
      output
        .split('\n')
        .map((line): [string, string] => [line.split(' ')[0] ?? '', line.trim().split(/ +/).slice(1).join(' ')]),
    );
    expect(shown.get('DATABASE_READ_TIMEOUT')).to.equal('environment 1m30s');
    expect(shown.get('DATABASE_LOCK_TIMEOUT')).to.equal('environment 0');
    expect(shown.get('DATABASE_BACKGROUND_TIMEOUT')).to.equal('default 10m');
    expect(shown.get('CORS_MAX_AGE')).to.equal('default 3600');
  });
});

describe('setup mode', () => {
  let service: ServiceProcess | undefined;
  before(async function () {
    this.timeout(30_000);
    service = await startServiceProcess({
      SVC_SETUP_MODE: 'true',
      SVC_SETUP_TOKEN: SETUP_TOKEN,
      ADMIN_LISTEN_ADDR: '127.0.0.1:0',
      API_LISTEN_ADDR: '127.0.0.1:0',
      JWT_SECRET: 'f3d1c0a95b7e4826d1f0',
    });
  });
  after(() => service?.end('SIGTERM'));
  const admin = caller(() => service?.adminUrl ?? '');
  const content = caller(() => service?.contentUrl ?? '');

  it('runs without a database and secrets, and reports that it is not ready', async () => {
    for (const call of [admin, content]) {
      expect((await call('GET', '/healthz')).status).to.equal(200);
      expect((await call('GET', '/readyz')).status).to.equal(503);
    }
  });
  it('lists the missing settings to a caller with the setup token', async () => {
    const status = await admin('GET', '/api/admin/setup/status', undefined, { 'x-setup-token': SETUP_TOKEN });
    expect(status.json()).to.deep.include({ ready: false });
    expect(status.json<{ missing: string[] }>().missing)
      .to.include.members(['DATABASE_URL', 'ENCRYPTION_KEY'])
      .and.not.include('JWT_SECRET');
    expect(
      (await admin('GET', '/api/admin/setup/status', undefined, { 'x-setup-token': 'a-wrong-setup-token' })).json(),
    ).to.include({ error: 'invalid setup token' });
  });
  it('refuses all other requests', async () => {
    expect((await admin('GET', '/api/admin/schemas')).json()).to.include({
      error: 'The requested endpoint does not exist.',
    });
    expect((await content('GET', '/api/v1/content/page')).status).to.equal(404);
    expect((await admin('GET', '/api/admin/setup')).json()).to.deep.equal({ setup_required: true });
  });
});
