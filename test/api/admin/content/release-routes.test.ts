import { expect } from 'chai';
import { openCommands } from '../../../../infrastructure/composition/commands/open-commands.ts';
import { loadSettings } from '../../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../../infrastructure/configuration/read-settings.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, caller, resultOf, statusAndError } from '../../../support/http.ts';
import { licenseEnvironment } from '../../../support/license.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { useReplicas } from '../../../support/replicas.ts';
import { testEnvironment, useService } from '../../../support/service.ts';

type Release = {
  readonly id: string;
  readonly status: string;
  readonly scheduled_at: string | null;
  readonly published_at: string | null;
  readonly items: readonly unknown[];
  readonly report: readonly { readonly entry_id: string; readonly ok: boolean; readonly error?: string }[] | null;
};

const RELEASES = '/api/admin/releases';
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Requests of one caller on entries and releases. */
function hands(admin: Call, content: Call) {
  const entry = async (move?: string): Promise<string> => {
    const { id } = (await content('POST', '/api/v1/content/article', { data: { title: 't' } })).json<{ id: string }>();
    if (move !== undefined)
      expect((await content('PUT', `/api/v1/content/article/${id}/${move}`)).status).to.equal(200);
    return id;
  };
  const status = async (id: string) => (await content('GET', `/api/v1/content/article/${id}`)).json()['status'];
  const create = async (body: object = {}): Promise<Release> => {
    return resultOf<Release>(await admin('POST', RELEASES, { name: 'Spring', ...body }), 201);
  };
  const fill = async ({ id }: Release, ...items: readonly (readonly [string, string])[]): Promise<Release> => {
    return resultOf<Release>(
      await admin('PUT', `${RELEASES}/${id}/entries`, {
        items: items.map(([entry_id, action]) => ({ entry_id, action })),
      }),
    );
  };
  /** Sets the time after the items, so that a slow machine does not publish an empty release. */
  const schedule = async ({ id }: Release, scheduled_at: string): Promise<Release> => {
    return resultOf<Release>(await admin('PUT', `${RELEASES}/${id}`, { scheduled_at }));
  };
  const read = async ({ id }: Release) => (await admin('GET', `${RELEASES}/${id}`)).json<Release>();
  const publish = ({ id }: Release) => admin('POST', `${RELEASES}/${id}/publish`);
  return { entry, status, create, fill, schedule, read, publish };
}
const TYPE = { name: 'article', with_draft_publish: true, fields: [{ name: 'title', field_type: 'text' }] };

describe('releases over HTTP', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['content-pro'] }) });
  const { owner, ownerContent } = service;
  const { entry, status, create, fill, schedule, read, publish } = hands(owner, ownerContent);

  before(() => owner('POST', '/api/admin/schemas', TYPE));

  it('are created, listed newest first, changed, filled and deleted', async () => {
    const first = await create({ name: 'One', description: 'first' });
    const second = await create({ name: 'Two' });
    expect(first).to.deep.include({
      name: 'One',
      description: 'first',
      status: 'draft',
      scheduled_at: null,
      items: [],
      published_at: null,
      report: null,
    });
    expect(first).to.have.all.keys(
      'id',
      'name',
      'description',
      'status',
      'scheduled_at',
      'items',
      'created_at',
      'created_by',
      'updated_at',
      'published_at',
      'report',
    );
    const list = await owner('GET', `${RELEASES}?limit=1&count=true`);
    expect([list.json<readonly Release[]>().map(({ id }) => id), list.headers['x-total-count']]).to.deep.equal([
      [second.id],
      '2',
    ]);
    const changed = await owner('PUT', `${RELEASES}/${first.id}`, { name: 'Uno' });
    expect(changed.json()).to.deep.include({ name: 'Uno', description: 'first' });
    const item = await entry();
    const filled = await fill(first, [item, 'publish']);
    expect(filled.items).to.deep.equal([{ entry_id: item, action: 'publish' }]);
    expect(await read(first)).to.deep.equal(filled);
    expect((await owner('DELETE', `${RELEASES}/${first.id}`)).status).to.equal(204);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', {}],
      ['DELETE', '', undefined],
      ['PUT', '/entries', { items: [] }],
      ['POST', '/publish', undefined],
    ] as const) {
      expect(statusAndError(await owner(method, `${RELEASES}/${first.id}${path}`, body)), method + path).to.deep.equal([
        404,
        'release not found',
      ]);
      expect(statusAndError(await owner(method, `${RELEASES}/nothing${path}`, body)), method + path).to.deep.equal([
        404,
        'release not found',
      ]);
    }
  });

  it('move all their entries at once, report each, and are visible to the next request', async () => {
    const [draft, live, old] = [await entry(), await entry('publish'), await entry('publish')];
    const release = await create();
    await fill(release, [draft, 'publish'], [live, 'unpublish'], [old, 'archive']);
    const published = await publish(release);
    expect(published.status, published.text).to.equal(200);
    expect(published.json<Release>().status).to.equal('published');
    expect(published.json<Release>().report).to.deep.equal([
      { entry_id: draft, action: 'publish', ok: true },
      { entry_id: live, action: 'unpublish', ok: true },
      { entry_id: old, action: 'archive', ok: true },
    ]);
    expect(await Promise.all([draft, live, old].map(status))).to.deep.equal(['published', 'draft', 'archived']);
    expect(await read(release)).to.deep.equal(published.json());
    const events = await service.database
      .db()
      .query<{ type: string; position: string; data: { release_id?: string } }>(
        'select type, position, data from eventstore.events order by position desc limit 4',
      );
    expect(events.map(({ type, data }) => [type, data.release_id])).to.have.deep.members([
      ['ReleasePublished', undefined],
      ['EntryPublished', release.id],
      ['EntryUnpublished', release.id],
      ['EntryArchived', release.id],
    ]);
  });

  it('move no entry if one item is refused, and report the reason for each', async () => {
    const [good, live, gone] = [await entry(), await entry('publish'), await entry()];
    const release = await create();
    await fill(release, [good, 'publish'], [live, 'publish'], [gone, 'publish']);
    await ownerContent('DELETE', `/api/v1/content/article/${gone}`);
    const refused = await publish(release);
    expect([...statusAndError(refused), refused.json()['report']]).to.deep.equal([
      409,
      'the release cannot be published',
      [
        { entry_id: good, action: 'publish', ok: true },
        { entry_id: live, action: 'publish', ok: false, error: 'invalid status transition' },
        { entry_id: gone, action: 'publish', ok: false, error: 'content not found' },
      ],
    ]);
    expect(await status(good)).to.equal('draft');
    expect((await read(release)).status).to.equal('draft');
    await fill(release, [good, 'publish']);
    expect((await publish(release)).status).to.equal(200);
  });

  it('report entries of a deleted content type', async () => {
    await owner('POST', '/api/admin/schemas', { ...TYPE, name: 'brief' });
    const { id } = (await ownerContent('POST', '/api/v1/content/brief', { data: { title: 'x' } })).json<{
      id: string;
    }>();
    const release = await create();
    await fill(release, [id, 'publish']);
    await owner('DELETE', '/api/admin/schemas/brief');
    expect((await publish(release)).json()['report']).to.deep.equal([
      { entry_id: id, action: 'publish', ok: false, error: 'content not found' },
    ]);
  });

  it('are published once, even by concurrent requests, and cannot be changed afterwards', async () => {
    const item = await entry();
    const release = await create();
    await fill(release, [item, 'publish']);
    const replies = await Promise.all(Array.from({ length: 8 }, () => publish(release)));
    expect(replies.map((reply) => reply.status).toSorted()).to.deep.equal([200, ...Array<number>(7).fill(409)]);
    for (const [method, path, body] of [
      ['PUT', '', { name: 'x' }],
      ['PUT', '/entries', { items: [] }],
      ['POST', '/publish', undefined],
    ] as const) {
      expect(statusAndError(await owner(method, `${RELEASES}/${release.id}${path}`, body))).to.deep.equal([
        409,
        'the release is already published',
      ]);
    }
    expect((await ownerContent('GET', `/api/v1/content/article/${item}`)).json()['version']).to.equal(2);
  });

  it('are published while their entries change concurrently', async () => {
    const items = [await entry(), await entry()];
    const release = await create();
    await fill(release, ...items.map((id) => [id, 'publish'] as const));
    const [published] = await Promise.all([
      publish(release),
      ...items.flatMap((id) =>
        Array.from({ length: 20 }, (_, n) =>
          ownerContent('PUT', `/api/v1/content/article/${id}`, { data: { title: `t${n}` } }),
        ),
      ),
    ]);
    expect(published.status, published.text).to.equal(200);
    expect(await Promise.all(items.map(status))).to.deep.equal(['published', 'published']);
  });

  it('accept up to a thousand existing entries without duplicates', async () => {
    const made = await ownerContent('POST', '/api/v1/content/article/bulk', {
      entries: Array.from({ length: 1000 }, () => ({ data: { title: 'b' } })),
    });
    const ids = made.json<{ data: readonly { id: string }[] }>().data.map(({ id }) => id);
    const release = await create();
    await fill(release, ...ids.map((id) => [id, 'publish'] as const));
    expect((await publish(release)).json<Release>().report).to.have.length(1000);
    const other = await create();
    const put = async (...items: readonly object[]) => await owner('PUT', `${RELEASES}/${other.id}/entries`, { items });
    const [a = ''] = ids;
    expect(
      statusAndError(await put(...[...ids, UNKNOWN].map((entry_id) => ({ entry_id, action: 'archive' })))),
    ).to.deep.equal([422, 'validation failed']);
    expect(
      (await put({ entry_id: a, action: 'archive' }, { entry_id: a, action: 'unpublish' })).json()['fields'],
    ).to.deep.equal([{ field: 'items.1.entry_id', message: 'occurs twice' }]);
    expect(
      (await put({ entry_id: a, action: 'archive' }, { entry_id: UNKNOWN, action: 'publish' })).json()['fields'],
    ).to.deep.equal([{ field: 'items.1.entry_id', message: 'content not found' }]);
    expect(statusAndError(await put({ entry_id: a, action: 'delete' }))).to.deep.equal([422, 'validation failed']);
  }).timeout(20_000);

  it('refuse to be published without items, and refuse past or malformed times', async () => {
    const release = await create();
    const refused = await publish(release);
    expect([...statusAndError(refused), refused.json()['report']]).to.deep.equal([
      409,
      'the release has no entries',
      [],
    ]);
    for (const scheduled_at of [soon(-1000), 'tomorrow', 7]) {
      expect(
        statusAndError(await owner('PUT', `${RELEASES}/${release.id}`, { scheduled_at })),
        String(scheduled_at),
      ).to.deep.equal([422, 'validation failed']);
      expect(statusAndError(await owner('POST', RELEASES, { name: 'x', scheduled_at }))).to.deep.equal([
        422,
        'validation failed',
      ]);
    }
    expect(statusAndError(await owner('POST', RELEASES, { name: '' }))).to.deep.equal([422, 'validation failed']);
  });

  it('are published at their time, unless the schedule is canceled', async () => {
    const [item, kept] = [await entry(), await entry()];
    const [release, off] = [await create({ scheduled_at: soon(60_000) }), await create()];
    expect((await fill(release, [item, 'publish'])).status).to.equal('scheduled');
    await fill(off, [kept, 'publish']);
    const canceled = soon(3000);
    await schedule(off, canceled);
    expect((await owner('PUT', `${RELEASES}/${off.id}`, { scheduled_at: null })).json()).to.deep.include({
      status: 'draft',
      scheduled_at: null,
    });
    const at = new Date(Math.max(Date.parse(canceled), Date.now()) + 100).toISOString();
    expect(await schedule(release, at)).to.deep.include({ status: 'scheduled', scheduled_at: at });
    await eventually(async () => {
      expect((await read(release)).status).to.equal('published');
    });
    expect(await status(item)).to.equal('published');
    expect([(await read(off)).status, await status(kept)]).to.deep.equal(['draft', 'draft']);
  }).timeout(15_000);

  it('fail at their time if an item is refused: no entry is moved, the report names the reason, and a new time retries', async () => {
    const [good, live] = [await entry(), await entry('publish')];
    const release = await create();
    await fill(release, [good, 'publish'], [live, 'publish']);
    await schedule(release, soon(500));
    const failed = await eventually(async () => {
      const found = await read(release);
      expect(found.status).to.equal('failed');
      return found;
    });
    expect(failed.report).to.deep.equal([
      { entry_id: good, action: 'publish', ok: true },
      { entry_id: live, action: 'publish', ok: false, error: 'invalid status transition' },
    ]);
    expect(await status(good)).to.equal('draft');
    await fill(release, [good, 'publish']);
    expect((await owner('PUT', `${RELEASES}/${release.id}`, { scheduled_at: soon(800) })).json()).to.deep.include({
      status: 'scheduled',
      report: null,
    });
    await eventually(async () => {
      expect((await read(release)).status).to.equal('published');
    });
  }).timeout(20_000);

  it('apply the access rules of the publisher, now and at the scheduled time', async () => {
    await owner('POST', '/api/admin/permissions', { role: 'editor', schema_name: 'article', actions: ['read'] });
    const person = { email: 'editor@palimpsest.test', password: 'Correct-Horse-8-battery' };
    await owner('POST', '/api/admin/users', { ...person, roles: ['editor'] });
    const { token } = (await service.admin('POST', '/api/admin/auth/login', person)).json<{ token: string }>();
    const editor = hands(
      caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` }),
      ownerContent,
    );
    const item = await entry();
    const [now, later] = [await editor.create(), await editor.create()];
    await editor.fill(now, [item, 'publish']);
    await editor.fill(later, [item, 'publish']);
    await editor.schedule(later, soon(500));
    const denied = [{ entry_id: item, action: 'publish', ok: false, error: 'permission denied' }];
    expect((await editor.publish(now)).json()['report']).to.deep.equal(denied);
    await eventually(async () => {
      expect((await editor.read(later)).status).to.equal('failed');
    });
    expect([(await editor.read(later)).report, await status(item)]).to.deep.equal([denied, 'draft']);
  }).timeout(15_000);

  it('are published only with the rights of the person who set the items as well', async () => {
    await owner('POST', '/api/admin/permissions', { role: 'editor', schema_name: 'article', actions: ['read'] });
    const person = { email: 'setter@palimpsest.test', password: 'Correct-Horse-8-battery' };
    await owner('POST', '/api/admin/users', { ...person, roles: ['editor'] });
    const { token } = (await service.admin('POST', '/api/admin/auth/login', person)).json<{ token: string }>();
    const editor = hands(
      caller(() => service.service().adminUrl, { authorization: `Bearer ${token}` }),
      ownerContent,
    );
    const [own, foreign] = [await entry(), await entry()];
    const denied = [{ entry_id: foreign, action: 'publish', ok: false, error: 'permission denied' }];

    // The editor changes a release that an admin scheduled: the schedule ends.
    const release = await create({ scheduled_at: soon(60_000) });
    expect((await fill(release, [own, 'publish'])).status, 'the owner has set the schedule').to.equal('scheduled');
    expect(await editor.fill(release, [foreign, 'publish'])).to.deep.include({ status: 'draft', scheduled_at: null });
    expect(await read(release)).to.deep.include({ status: 'draft', scheduled_at: null });
    const refused = await publish(release);
    expect([...statusAndError(refused), refused.json()['report']]).to.deep.equal([
      409,
      'the release cannot be published',
      denied,
    ]);

    // An admin schedules a release that the editor filled: the editor's rights decide too.
    expect((await owner('PUT', `${RELEASES}/${release.id}`, { scheduled_at: soon(1000) })).status).to.equal(200);
    await eventually(async () => {
      expect((await read(release)).status).to.equal('failed');
    });
    expect([(await read(release)).report, await status(foreign)]).to.deep.equal([denied, 'draft']);

    // An admin who sets the same items takes them over.
    await fill(release, [foreign, 'publish']);
    expect((await publish(release)).status).to.equal(200);
    expect([await status(foreign), await status(own)]).to.deep.equal(['published', 'draft']);
    const sets = (await owner('GET', `/api/admin/audit?type=ReleaseEntriesSet&resource=release:${release.id}`)).json<{
      data: readonly { actor: { id: string } }[];
    }>();
    expect(new Set(sets.data.map(({ actor }) => actor.id)).size, 'the log names both').to.equal(2);
  }).timeout(20_000);

  it('are not visible to another tenant', async () => {
    await owner('POST', '/api/admin/tenants', { slug: 'acme', name: 'Acme' });
    const release = await create();
    const elsewhere: Call = (method, path, body) => owner(method, path, body, { 'x-tenant-id': 'acme' });
    expect((await elsewhere('GET', RELEASES)).json()).to.deep.equal([]);
    expect(statusAndError(await elsewhere('GET', `${RELEASES}/${release.id}`))).to.deep.equal([
      404,
      'release not found',
    ]);
    const theirs = (await elsewhere('POST', RELEASES, { name: 'x' })).json<Release>();
    expect(
      statusAndError(
        await elsewhere('PUT', `${RELEASES}/${theirs.id}/entries`, {
          items: [{ entry_id: await entry(), action: 'publish' }],
        }),
      ),
    ).to.deep.equal([422, 'validation failed']);
  });

  it('are the same after a rebuild of the read model', async () => {
    const { settings } = loadSettings([environmentLayer(testEnvironment(service.database.url(), '/nowhere'))]);
    const commands = await openCommands({ settings, logger: recordingLogger() });
    const tables = await commands.rebuild('releases');
    await commands.close();
    expect(tables.filter(({ rows }) => rows > 0)).to.not.have.length(0);
  });
});

describe('releases without content-pro', () => {
  const service = useService();

  it('are refused with 402', async () => {
    for (const [method, path] of [
      ['GET', RELEASES],
      ['POST', RELEASES],
      ['GET', `${RELEASES}/${UNKNOWN}`],
      ['PUT', `${RELEASES}/${UNKNOWN}`],
      ['DELETE', `${RELEASES}/${UNKNOWN}`],
      ['PUT', `${RELEASES}/${UNKNOWN}/entries`],
      ['POST', `${RELEASES}/${UNKNOWN}/publish`],
    ] as const) {
      const reply = await service.owner(method, path);
      expect([reply.status, reply.json()], `${method} ${path}`).to.deep.equal([
        402,
        {
          error: 'payment_required',
          plugin: 'content',
          feature: 'feature:content-pro',
          upgrade_url: 'https://palimpsest.example/upgrade',
        },
      ]);
    }
  });
});

describe('scheduled releases across replicas', () => {
  const replicas = useReplicas({ environment: licenseEnvironment() });

  it('are published once when two schedulers run, and later if none ran at their time', async () => {
    const [one, two] = [await replicas.start(), await replicas.start()];
    await one.owner('POST', '/api/admin/schemas', TYPE);
    const { entry, create, fill, schedule, read } = hands(one.owner, one.ownerContent);
    const items = [await entry(), await entry(), await entry()];
    const releases = [await create(), await create()];
    await fill(releases[0]!, [items[0]!, 'publish']);
    await fill(releases[1]!, [items[1]!, 'publish']);
    const at = soon(1000);
    await Promise.all(releases.map((release) => schedule(release, at)));
    await eventually(async () => {
      expect((await Promise.all(releases.map(read))).map((release) => release.status)).to.deep.equal([
        'published',
        'published',
      ]);
    });
    const draft = await create();
    await fill(draft, [items[2]!, 'publish']);
    const missed = await schedule(draft, soon(700));
    await Promise.all([one.stop(), two.stop()]);
    await eventually(() => {
      expect(new Date().toISOString() > (missed.scheduled_at ?? '')).to.equal(true);
    });
    const three = await replicas.start();
    const after = hands(three.owner, three.ownerContent);
    await eventually(async () => {
      expect((await after.read(missed)).status).to.equal('published');
    });
    expect(await Promise.all(items.map(after.status))).to.deep.equal(['published', 'published', 'published']);
    const counts = await replicas.database
      .db()
      .query<{ type: string; n: number }>(
        `select type, count(*)::int as n from eventstore.events where type in ('ReleasePublished', 'ReleasePublicationFailed', 'EntryPublished') group by type order by type`,
      );
    expect(counts).to.deep.equal([
      { type: 'EntryPublished', n: 3 },
      { type: 'ReleasePublished', n: 3 },
    ]);
  }).timeout(40_000);
});
