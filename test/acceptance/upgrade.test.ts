import { expect } from 'chai';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { openCommands } from '../../infrastructure/composition/commands/open-commands.ts';
import { projections } from '../../infrastructure/composition/platform/projections.ts';
import { type Service, startService } from '../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import { migrations } from '../../infrastructure/postgres/migrations/index.ts';
import type { KeptInstall } from '../../ops/upgrade-fixture/scenario.ts';
import { admin as onServer, serverUrl } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { type Call, caller } from '../support/http.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const FIXTURES = new URL('../fixtures/upgrades/', import.meta.url);

// Starts the current build on the data of each earlier build (`ops/upgrade-fixture/`).
for (const name of readdirSync(FIXTURES)) {
  describe(`an upgrade from build ${name}`, function () {
    this.timeout(60_000);
    const database = `upgrade_${name}_${String(process.pid)}`.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
    const kept = JSON.parse(read('install.json.gz')) as KeptInstall;
    const logger = recordingLogger();
    const directory = useDirectory();
    let service: Service;
    let owner: Call;
    let withKey: Call;

    function read(file: string): string {
      return gunzipSync(readFileSync(new URL(`${name}/${file}`, FIXTURES))).toString('utf8');
    }
    function settings(url: string) {
      const layers = [
        environmentLayer({
          ...kept.secrets,
          APP_ENV: 'development',
          DATABASE_URL: url,
          SVC_DATA_DIR: directory(),
          JWT_KEY_PATH: join(directory(), 'jwt_key.json'),
          ADMIN_LISTEN_ADDR: '127.0.0.1:0',
          API_LISTEN_ADDR: '127.0.0.1:0',
          WEBHOOK_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
        }),
      ];
      return { layers, settings: loadSettings(layers).settings };
    }

    before(async () => {
      writeFileSync(join(directory(), 'jwt_key.json'), kept.signingKey, { mode: 0o600 });
      await onServer(`create database ${database}`);
      const client = new pg.Client({ connectionString: serverUrl(database) });
      await client.connect();
      await client.query(read('database.sql.gz')).finally(() => client.end());
      service = await startService({ ...settings(serverUrl(database)), logger });
      const { token } = (await caller(() => service.adminUrl)('POST', '/api/admin/auth/login', kept.owner)).json<{
        token: string;
      }>();
      owner = caller(() => service.adminUrl, { authorization: `Bearer ${token}` });
      withKey = caller(() => service.contentUrl, { 'x-api-key': kept.key });
    });
    after(async () => {
      await service.stop();
      await onServer(`drop database if exists ${database} with (force)`);
    });

    it('rebuilds changed read models while the old ones serve reads', async () => {
      const installed = async () =>
        withClient((client) =>
          client.query<{ name: string; version: number }>(
            'select name, version from operational.projections order by name',
          ),
        );
      await eventually(
        async () => {
          expect((await installed()).rows).to.deep.equal(
            projections
              .map(({ name: projection, version }) => ({ name: projection, version }))
              .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
          );
        },
        { timeoutMs: 30_000 },
      );
      await eventually(async () => {
        expect((await caller(() => service.contentUrl)('GET', '/readyz')).text).to.equal('{"status":"ok"}');
      });
    });

    it('returns at least the same data for every read', async () => {
      for (const { api, path, body } of kept.expectations) {
        const reply = api === 'content' ? await withKey('GET', path) : await owner('GET', path);
        expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
        expectAtLeast(reply.json<unknown>(), body, path);
      }
    });

    it('keeps accounts and API keys valid, and revoked ones invalid', async () => {
      const admin = caller(() => service.adminUrl);
      expect((await admin('POST', '/api/admin/auth/login', kept.editor)).status).to.equal(200);
      expect(
        (await admin('POST', '/api/admin/auth/login', { ...kept.editor, password: 'Another-Password-1' })).status,
      ).to.equal(401);
      expect(
        (await caller(() => service.contentUrl, { 'x-api-key': kept.revokedKey })('GET', '/api/v1/content/article'))
          .status,
      ).to.equal(401);
    });

    it('keeps unique values taken, and released ones available', async () => {
      const { schema, data } = kept.taken;
      const refused = await withKey('POST', `/api/v1/content/${schema}`, { data });
      expect(refused.status, refused.text).to.equal(409);
      const made = await withKey('POST', `/api/v1/content/${schema}`, { data: { ...data, handle: 'a-new-handle' } });
      expect(made.status, made.text).to.equal(201);
    });

    it('can open sealed values: a webhook signs with its old secret', async () => {
      const receiver = await startReceiver();
      try {
        const changed = await owner('PUT', `/api/admin/webhooks/${kept.webhook.id}`, {
          name: 'of the fixture',
          url: `${receiver.url}/hook`,
          enabled: true,
          events: ['after_create'],
          schemas: [kept.webhook.schema],
          headers: { 'X-Token': '[redacted]' },
        });
        expect(changed.status, changed.text).to.equal(200);
        const { schema, data } = kept.taken;
        expect(
          (
            await withKey('POST', `/api/v1/content/${schema}`, {
              data: { ...data, handle: 'one-more', price: '88888' },
            })
          ).status,
        ).to.equal(201);
        const [received] = await receiver.waitFor(1);
        expect(received?.headers).to.include({ 'x-token': 'sealed' }).and.to.have.property('x-webhook-signature');
      } finally {
        await receiver.close();
      }
    });

    it('accepts changes of old entries, and keeps their whole history', async () => {
      const [found] = (await withKey('GET', '/api/v1/content/page?sort=stock&limit=1&filters[stock][$gte]=10')).json<
        { id: string; version: number }[]
      >();
      expect(
        (
          await withKey(
            'PUT',
            `/api/v1/content/page/${found?.id ?? ''}`,
            { data: { body: 'after the upgrade' } },
            { 'if-match': `"${String(found?.version)}"` },
          )
        ).status,
      ).to.equal(200);
      const revisions = (await withKey('GET', `/api/v1/content/page/${found?.id ?? ''}/revisions`)).json<
        { version: number }[]
      >();
      expect(revisions.map(({ version }) => version)).to.deep.equal([2, 1]);
    });

    it('has the schemas of the current build, and read models equal to a replay', async () => {
      const done = await withClient((client) =>
        client.query<{ name: string }>('select name from operational.migrations'),
      );
      expect(done.rows.map((row) => row.name)).to.have.members(migrations.map(({ id }) => id));
      const fresh = `${database}_replay`;
      await onServer(`create database ${fresh}`);
      const commands = await openCommands({ settings: settings(serverUrl(database)).settings, logger });
      try {
        const live = await eventually(async () => {
          const before = await commands.digest();
          expect(await commands.digest()).to.deep.equal(before);
          return before;
        });
        const byTable = (lines: typeof live) => lines.toSorted((a, b) => (a.table < b.table ? -1 : 1));
        expect(byTable(await commands.replay({ to: serverUrl(fresh) }))).to.deep.equal(byTable(live));
      } finally {
        await commands.close();
        await onServer(`drop database if exists ${fresh} with (force)`);
      }
    });

    it('verifies the audit chain that the earlier build made', async () => {
      const verdict = (await owner('GET', '/api/admin/audit/verify')).json<{ ok: boolean; checked: number }>();
      expect(verdict).to.deep.include({ ok: true, first_broken: null });
      expect(verdict.checked).to.be.at.least(1);
    });

    it('logs no errors', () => {
      expect(logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });

    async function withClient<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
      const client = new pg.Client({ connectionString: serverUrl(database) });
      await client.connect();
      return work(client).finally(() => client.end());
    }
  });
}

describe('processes that start together on an old database', function () {
  this.timeout(30_000);

  it('migrate it once', async () => {
    const database = `upgrade_race_${String(process.pid)}`;
    await onServer(`create database ${database}`);
    const { openDatabase } = await import('../../infrastructure/postgres/database.ts');
    const opened = [1, 2, 3].map(() => openDatabase({ url: serverUrl(database), maxConnections: 2 }));
    try {
      const ran = await Promise.all(opened.map((one) => migrate(one)));
      expect(ran.map((names) => names.length).toSorted()).to.deep.equal([0, 0, migrations.length]);
    } finally {
      await Promise.all(opened.map((one) => one.close()));
      await onServer(`drop database if exists ${database} with (force)`);
    }
  });
});

/** Members that a sign-in changes. */
const MOVING = ['last_login_at'];

/** Asserts that `actual` contains every member of `wanted` with an equal value. Objects may have further members. */
function expectAtLeast(actual: unknown, wanted: unknown, path: string): void {
  if (Array.isArray(wanted)) {
    expect(actual, path).to.be.an('array').with.length(wanted.length);
    for (const [at, item] of wanted.entries()) expectAtLeast((actual as unknown[])[at], item, `${path}[${String(at)}]`);
  } else if (typeof wanted === 'object' && wanted !== null) {
    expect(actual, path).to.be.an('object');
    for (const [key, value] of Object.entries(wanted))
      if (!MOVING.includes(key)) expectAtLeast((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  } else expect(actual, path).to.equal(wanted);
}
