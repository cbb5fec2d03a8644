import { expect } from 'chai';
import { openCommands } from '../../../../infrastructure/composition/commands/open-commands.ts';
import { loadSettings } from '../../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../../infrastructure/configuration/read-settings.ts';
import { statusAndError } from '../../../support/http.ts';
import { licenseEnvironment } from '../../../support/license.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { testEnvironment, useService } from '../../../support/service.ts';

const LAYOUT = '/api/admin/schemas/canvas-layout';

describe('the canvas layout over HTTP', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['schema-pro'] }) });
  const { owner } = service;
  const put = (positions: unknown) => owner('PUT', LAYOUT, { positions });
  const get = async () => (await owner('GET', LAYOUT)).json();
  const changes = () =>
    service.database
      .db()
      .query<{ data: unknown }>(
        `select data from eventstore.events where type = 'CanvasLayoutChanged' order by position`,
      );

  it('is empty at first, replaced by every save, and visible to the next read', async () => {
    expect(await get()).to.deep.equal({ positions: {}, licensed: true });
    const first = { note: { x: 10, y: -20.5 }, page: { x: 0, y: 0 } };
    const saved = await put(first);
    expect([saved.status, saved.json()], saved.text).to.deep.equal([200, { positions: first, licensed: true }]);
    expect(saved.headers['x-commit-position']).to.match(/^\d{20}$/);
    expect(await get()).to.deep.equal({ positions: first, licensed: true });
    await put({ note: { x: 10, y: -20.5 }, tag: { x: 1, y: 2 } });
    expect(await get()).to.deep.equal({
      positions: { note: { x: 10, y: -20.5 }, tag: { x: 1, y: 2 } },
      licensed: true,
    });
  });

  it('is stored as the positions that changed, and a save without changes appends no event', async () => {
    await put({ note: { x: 10, y: -20.5 }, tag: { x: 1, y: 2 } });
    expect((await changes()).map(({ data }) => data)).to.deep.equal([
      { moved: { note: { x: 10, y: -20.5 }, page: { x: 0, y: 0 } }, removed: [] },
      { moved: { tag: { x: 1, y: 2 } }, removed: ['page'] },
    ]);
  });

  it('is that of the last of many concurrent saves', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => put({ note: { x: n, y: n } })));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array<number>(20).fill(200));
    const { positions } = (await get()) as { positions: Record<string, { x: number }> };
    expect(Object.keys(positions)).to.deep.equal(['note']);
    expect(positions['note']!.x).to.be.within(0, 19);
  });

  it('accepts 256 KiB, and refuses larger and malformed layouts', async () => {
    const many = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`type_${String(n).padStart(5, '0')}`, { x: n, y: n }]),
      );
    expect(JSON.stringify({ positions: many(7_000) }).length).to.be.within(220_000, 262_144);
    expect((await put(many(7_000))).status).to.equal(200);
    expect(statusAndError(await put(many(9_000)))).to.deep.equal([413, 'layout too large']);
    for (const bad of [
      undefined,
      [],
      { Note: { x: 1, y: 1 } },
      { note: { x: '1', y: 1 } },
      { note: { x: 1 } },
      { note: { x: 1, y: 2, z: 3 } },
    ]) {
      expect(statusAndError(await put(bad)), JSON.stringify(bad)).to.deep.equal([422, 'validation failed']);
    }
    expect(statusAndError(await owner('PUT', LAYOUT, '{', { 'content-type': 'application/json' }))).to.deep.equal([
      400,
      'invalid JSON',
    ]);
  });

  it('is the same after a rebuild of the read model, as are saved presets', async () => {
    const document = {
      id: 'mine',
      name: 'Mine',
      schemas: [{ name: 'a', fields: [{ name: 'b', field_type: 'text' }] }],
    };
    expect((await owner('POST', '/api/admin/schemas/presets', { document })).status).to.equal(201);
    const { settings } = loadSettings([environmentLayer(testEnvironment(service.database.url(), '/nowhere'))]);
    const commands = await openCommands({ settings, logger: recordingLogger() });
    const tables = await commands.rebuild('modelling');
    await commands.close();
    expect(tables.filter(({ rows }) => rows > 0)).to.not.have.length(0);
  });
});

describe('the budget for changes of content types', () => {
  const service = useService();
  const { owner } = service;
  const definition = { name: 'note', fields: [{ name: 'title', field_type: 'text' }] };
  const put = () => owner('PUT', '/api/admin/schemas/note', definition);

  it('allows ten calls in five minutes, including refused ones, except those refused because of the role', async () => {
    await owner('POST', '/api/admin/schemas', definition);
    await owner('POST', '/api/admin/users', {
      email: 'admin@palimpsest.test',
      password: 'Correct-Horse-8-battery',
      roles: ['admin'],
    });
    const { token } = (
      await service.admin('POST', '/api/admin/auth/login', {
        email: 'admin@palimpsest.test',
        password: 'Correct-Horse-8-battery',
      })
    ).json<{ token: string }>();
    for (let n = 0; n < 12; n += 1) {
      expect(
        (await service.admin('PUT', '/api/admin/schemas/note', definition, { authorization: `Bearer ${token}` }))
          .status,
      ).to.equal(403);
    }
    for (let n = 0; n < 7; n += 1) expect((await put()).status).to.equal(200);
    expect((await owner('POST', '/api/admin/schemas/migrate')).status).to.equal(200);
    expect((await owner('PUT', '/api/admin/schemas/ghost', definition)).status).to.equal(404);
    expect((await owner('PUT', '/api/admin/schemas/note', { fields: 1 })).status).to.equal(400);
    const refused = await put();
    const { retry_after: retryAfter, ...body } = refused.json();
    expect([refused.status, body]).to.deep.equal([
      429,
      { error: 'schema mutation rate limit exceeded', code: 'schema_mutation_limited' },
    ]);
    expect(retryAfter).to.be.within(280, 300);
    expect(refused.headers['retry-after']).to.equal(String(retryAfter));
    expect(statusAndError(await owner('POST', '/api/admin/schemas/migrate'))).to.deep.equal([
      429,
      'schema mutation rate limit exceeded',
    ]);
    // POST, which creates or replaces a type, has no such budget.
    expect((await owner('POST', '/api/admin/schemas', definition)).status).to.equal(200);
  });

  it('is available again after five minutes', async () => {
    await service.database
      .db()
      .query(`update operational.rate_counters set ends_at = ends_at - interval '301 seconds'`);
    expect((await put()).status).to.equal(200);
  });
});
