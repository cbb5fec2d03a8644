import { expect } from 'chai';
import { openCommands } from '../../infrastructure/composition/commands/open-commands.ts';
import { environmentLayer, readSettings } from '../../infrastructure/configuration/read-settings.ts';
import { createLogger } from '../../infrastructure/logging/create-logger.ts';
import { admin, serverUrl } from '../support/database.ts';
import type { Call } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Digest = readonly { readonly table: string; readonly rows: number; readonly checksum: string }[];

/** Entries with slugs that are archived, softly deleted and restored, including one that is restored after a purge. */
async function liveThrough(owner: Call): Promise<void> {
  const kept = {
    name: 'kept',
    with_soft_delete: true,
    with_draft_publish: true,
    fields: [{ name: 'title', field_type: 'text' }],
  };
  await owner('POST', '/api/admin/schemas', kept);
  const paths: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const entry = await owner('POST', '/api/admin/content', { schema_name: 'kept', data: { title: 'same' } });
    paths.push(`/api/admin/content/${entry.json<{ id: string }>().id}`);
  }
  const [archived, unarchived, deleted, back, purged] = paths.map(
    (path) =>
      async (method: 'PUT' | 'DELETE', move = '') => {
        const reply = await owner(method, path + move);
        expect(reply.status, `${move} ${reply.text}`).to.be.oneOf([200, 204]);
      },
  );
  await archived?.('PUT', '/archive');
  await unarchived?.('PUT', '/archive');
  await unarchived?.('PUT', '/unarchive');
  for (const entry of [deleted, back, purged]) await entry?.('DELETE');
  await back?.('PUT', '/undelete');
  await owner('PUT', '/api/admin/schemas/kept', { ...kept, with_soft_delete: false });
  expect((await owner('POST', '/api/admin/schemas/kept/apply-pending')).status).to.equal(200);
  await owner('PUT', '/api/admin/schemas/kept', kept);
  await purged?.('PUT', '/undelete');
  await unarchived?.('DELETE');
}

describe('rebuild and replay', function () {
  this.timeout(60_000);
  const service = useService();
  let key: Call;

  before(async () => {
    for (const name of ['page', 'note']) {
      await service.owner('POST', '/api/admin/schemas', {
        name,
        with_draft_publish: name === 'page',
        with_created_at: true,
        fields: [
          { name: 'title', field_type: 'text' },
          { name: 'n', field_type: 'integer' },
          { name: 'd', field_type: 'decimal' },
          { name: 'j', field_type: 'json' },
          { name: 'at', field_type: 'datetime' },
        ],
      });
    }
    key = await service.key({});
    const ids = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const type = n % 3 === 0 ? 'page' : 'note';
        const reply = await key('POST', `/api/v1/content/${type}`, {
          data: { title: `entry ${n}`, n, d: '12.50', j: { deep: [n] }, at: '2026-01-02T03:04:05.678Z' },
        });
        return `/api/v1/content/${type}/${reply.json<{ id: string }>().id}`;
      }),
    );
    await Promise.all(
      ids.map(async (path, n) => {
        if (n % 2 === 0) await key('PUT', path, { data: { title: `changed ${n}`, j: null } });
        if (n % 3 === 0) await key('PUT', `${path}/publish`);
        if (n % 5 === 0) await key('DELETE', path);
      }),
    );
    // The content type changes between entries: one field is added, one index changes.
    await service.owner('PUT', '/api/admin/schemas/note', {
      name: 'note',
      with_created_at: true,
      fields: [
        { name: 'title', field_type: 'text', indexed: true },
        { name: 'n', field_type: 'integer' },
        { name: 'd', field_type: 'decimal' },
        { name: 'j', field_type: 'json' },
        { name: 'at', field_type: 'datetime' },
        { name: 'extra', field_type: 'boolean', default: true },
      ],
    });
    await key('POST', '/api/v1/content/note', { data: { title: 'late', extra: false } });
    await liveThrough(service.owner);
    await service.owner('POST', '/api/admin/webhooks', {
      name: 'hook',
      url: 'http://127.0.0.1:9/',
      events: ['after_delete'],
      secret: 'sixteen-characters',
    });
  });

  it('produce read models equal to the live ones, while reads continue', async () => {
    const { settings } = readSettings([environmentLayer({ DATABASE_URL: service.database.url() })]);
    const commands = await openCommands({ settings, logger: createLogger({ level: 'error', format: 'json' }) });
    const target = `replay_${process.pid}`;
    await admin(`create database ${target}`);
    try {
      const live: Digest = await commands.digest();
      expect(live.map(({ table }) => table)).to.include.members([
        'rm_content.page',
        'rm_content.note',
        'rm_identity.users',
        'rm_automation.webhooks',
      ]);
      expect(live.find(({ table }) => table === 'rm_content.note')?.rows).to.be.greaterThan(10);
      expect(live.find(({ table }) => table === 'rm_content.kept')?.rows).to.equal(5);

      let reading = true;
      let reads = 0;
      const reader = (async () => {
        while (reading) {
          const reply = await key('GET', '/api/v1/content/note?limit=5');
          expect(reply.status).to.equal(200);
          expect(reply.json<unknown[]>()).to.have.length(5);
          reads += 1;
        }
      })();
      const rebuilt: Digest = await commands.rebuild('all');
      reading = false;
      await reader;
      expect(reads).to.be.greaterThan(0);
      expect(rebuilt).to.deep.equal(live);

      expect(await commands.replay({ to: serverUrl(target) })).to.deep.equal(live);
    } finally {
      await commands.close();
      await admin(`drop database ${target} with (force)`);
    }
  });

  it('do not interrupt writes, and keep the SQL views of content types', async () => {
    const reply = await key('POST', '/api/v1/content/note', { data: { title: 'after the swap', n: 4711 } });
    expect(reply.status).to.equal(201);
    expect(reply.headers['x-projection-lag']).to.equal(undefined);
    expect((await key('GET', '/api/v1/content/note?filters[n]=4711')).json<unknown[]>()).to.have.length(1);
    const rows = await service.database.db().query<{ title: string }>('select title from content.note where n = 4711');
    expect(rows).to.deep.equal([{ title: 'after the swap' }]);
  });
});
