import { expect } from 'chai';
import { Agent } from 'undici';
import { v7 } from 'uuid';
import { entryRoutes } from '../../../api/content/entry-routes.ts';
import { createStreamSlots } from '../../../api/http/stream-slots.ts';
import { createEntry } from '../../../application/content/create-entry.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import type { AccessRules } from '../../../application/ports/access-rules.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { ORIGIN } from '../../../domain/event.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import { testContext, useContent } from '../../support/content.ts';
import { type EventSource, openEventSource } from '../../support/event-source.ts';
import { eventually } from '../../support/eventually.ts';
import { caller, resultOf, statusAndError } from '../../support/http.ts';
import { apiKey, useServedContent } from '../../support/serve-content.ts';
import { serve } from '../../support/serve-routes.ts';
import { testMetadata } from '../../support/test-metadata.ts';

type Change = {
  position: string;
  event: string;
  entry_id: string;
  version: number;
  at: string;
  data: Record<string, unknown> | null;
  old_data: Record<string, unknown> | null;
};
type Page = { data: Change[]; next: string };
type Entry = { id: string; version: number; data: Record<string, unknown> };

describe('the changes feed', () => {
  const content = useContent();
  const agent = new Agent({ connections: 16 });
  const principals: Record<string, Principal> = {
    writer: apiKey(),
    other: apiKey({ keyId: 'k2', tenant: 'acme' }),
    masked: apiKey({ roles: ['masked'] }),
    leaving: apiKey({ keyId: 'k4' }),
    listed: apiKey({ schemas: ['note'] }),
  };
  let mayRead = true;
  const accessRules: AccessRules = {
    decide: ({ roles, action }) => ({
      allowed: roles.includes('editor') || (mayRead && action === 'read'),
      maskedFields: new Set(roles.includes('masked') ? ['secret'] : []),
    }),
  };
  const served = useServedContent({
    content,
    routes: () =>
      entryRoutes({
        ...content.dependencies(),
        accessRules,
        streamSlots: createStreamSlots({ perTenant: 3, perProcess: 4 }),
        streamPace: { heartbeatMs: 40, recheckMs: 20 },
      }),
    principals,
  });
  const sources: EventSource[] = [];
  const as = (name: string) => caller(() => served().content.url, { 'x-api-key': name }, agent);
  const call = as('writer');
  const PATH = '/api/v1/content/article';

  before(async () => {
    await content.save({
      name: 'article',
      with_draft_publish: true,
      with_soft_delete: true,
      fields: [
        { name: 'title', field_type: 'text' },
        { name: 'views', field_type: 'integer' },
        { name: 'secret', field_type: 'text' },
      ],
    });
    await content.save({ name: 'note', fields: [{ name: 'text', field_type: 'text' }] });
    await content.save({ name: 'inbox', transports: { rest: 'w' }, fields: [] });
    await content.save({ name: 'article', fields: [{ name: 'title', field_type: 'text' }] }, 'acme');
  });
  afterEach(() => {
    for (const source of sources.splice(0)) source.close();
  });
  after(() => agent.close());

  const create = async (data: Record<string, unknown>, schema = 'article', by = call): Promise<Entry> => {
    return resultOf<Entry>(await by('POST', `/api/v1/content/${schema}`, { data }), 201);
  };
  const page = async (query = '', by = call, path = PATH): Promise<Page> => {
    return resultOf<Page>(await by('GET', `${path}/changes${query}`));
  };
  const here = async (): Promise<string> => content.eventStore().head();
  const stream = async (name = 'writer', query = '', headers: Record<string, string> = {}): Promise<EventSource> => {
    const source = await openEventSource(`${served().content.url}${PATH}/changes${query}`, {
      'x-api-key': name,
      ...headers,
    });
    sources.push(source);
    return source;
  };
  const changesOf = (source: EventSource): Change[] =>
    source.received.filter(({ event }) => event === 'change').map(({ data }) => JSON.parse(data) as Change);

  it('returns each change with the entry before and after it, including deletions and restores', async () => {
    const from = await here();
    const entry = await create({ title: 'a', secret: 's' });
    const path = `${PATH}/${entry.id}`;
    await call('PUT', path, { data: { title: 'b' } });
    await call('PUT', `${path}/publish`);
    await call('DELETE', path);
    const type = (await content.dependencies().types.get('default', 'article'))!;
    await undeleteEntry({ type, id: entry.id }, testContext(), content.dependencies());
    await content.project();
    const { data, next } = await page(`?after=${from}`);
    expect(Object.keys(data[0]!)).to.deep.equal(['position', 'event', 'entry_id', 'version', 'at', 'data', 'old_data']);
    const shown = (title: string, status: string) => ({ title, views: null, secret: 's', id: entry.id, status });
    expect(
      data.map(({ event, version, entry_id, data: after, old_data }) => [event, version, entry_id, after, old_data]),
    ).to.deep.equal([
      ['after_create', 1, entry.id, shown('a', 'draft'), null],
      ['after_update', 2, entry.id, shown('b', 'draft'), shown('a', 'draft')],
      ['after_update', 3, entry.id, shown('b', 'published'), shown('b', 'draft')],
      ['after_delete', 4, entry.id, null, shown('b', 'published')],
      ['after_create', 5, entry.id, shown('b', 'published'), null],
    ]);
    const events = (await content.log()).filter(({ stream: name }) => name.endsWith(entry.id));
    expect(data.map(({ position, at }) => [position, at])).to.deep.equal(
      events.map(({ position, metadata }) => [position, metadata.occurred_at]),
    );
    expect(next).to.equal(data.at(-1)!.position);
  });

  it('includes status and slug only if the type has them', async () => {
    const from = await here();
    const note = await create({ text: 'n' }, 'note');
    expect((await page(`?after=${from}`, call, '/api/v1/content/note')).data[0]?.data).to.deep.equal({
      text: 'n',
      id: note.id,
    });
  });

  it('starts at the beginning without after, continues after the given position, and keeps next when nothing is new', async () => {
    await create({ title: '1' });
    await create({ title: '2' });
    const whole = await page('?limit=1000');
    const walked: Change[] = [];
    for (let after: string = ORIGIN; ;) {
      const part = await page(`?after=${after}&limit=2`);
      expect(part.data.length).to.be.lessThanOrEqual(2);
      walked.push(...part.data);
      if (part.next === after) break;
      after = part.next;
    }
    expect(walked).to.deep.equal(whole.data);
    expect(await page(`?after=${whole.next}`)).to.deep.equal({ data: [], next: whole.next });
    expect(await page('?after=99999999999999999999')).to.deep.equal({ data: [], next: '99999999999999999999' });
  });

  it('moves next past events of other types, so that polling always advances', async () => {
    const { next } = await page('?limit=1000');
    await create({ text: 'elsewhere' }, 'note');
    await create({ title: 'another tenant' }, 'article', as('other'));
    const moved = await page(`?after=${next}`);
    expect(moved.data).to.deep.equal([]);
    expect(moved.next).to.equal(await here());
  });

  it('reads a bounded part of the log for one page', async () => {
    const store = content.eventStore();
    const type = (await content.dependencies().types.get('default', 'note'))!;
    const from = await here();
    const metadata = testMetadata({ actor: { kind: 'user', id: 'u' }, occurred_at: '2026-04-01T00:00:00.000Z' });
    for (let at = 0; at < 6; at += 1) {
      const id = v7();
      const data = { type_id: type.id, schema: 'note', type_revision: 0 };
      const events = Array.from({ length: 1000 }, (_, index) => ({
        id: v7(),
        type: index === 0 ? 'EntryCreated' : 'EntryFieldsChanged',
        data: { ...data, fields: { text: String(index) }, ...(index === 0 ? { status: 'published' } : {}) },
        metadata,
      }));
      await store.append(`entry-default.${id}`, events, { expected: 'no_stream' });
    }
    await content.project();
    const last = await create({ title: 'behind it' });
    const first = await page(`?after=${from}`);
    expect(first.data).to.deep.equal([]);
    expect(first.next > from && first.next < (await here())).to.equal(true);
    expect((await page(`?after=${first.next}`)).data.map(({ entry_id }) => entry_id)).to.deep.equal([last.id]);
  });

  it('reads a long history page by page without reading the stream again for each change', async () => {
    const from = await here();
    const entry = await create({ title: '0' });
    for (let at = 1; at <= 60; at += 1) await call('PUT', `${PATH}/${entry.id}`, { data: { title: String(at) } });
    let read = 0;
    const store = content.eventStore();
    const counting: EventStore = {
      ...store,
      async *readStream(name, options) {
        for await (const event of store.readStream(name, options)) {
          read += 1;
          yield event;
        }
      },
    };
    const other = await serve(
      entryRoutes({ ...content.dependencies(), accessRules, eventStore: counting }),
      {},
      { authenticate: () => principals['writer'], checkKeyScope: () => undefined },
    );
    const calls = caller(() => other.content.url, { 'x-api-key': 'writer' }, agent);
    const titles: unknown[] = [];
    for (let after = from; ;) {
      const part = (await calls('GET', `${PATH}/changes?after=${after}&limit=7`)).json<Page>();
      titles.push(...part.data.map(({ data }) => data?.['title']));
      if (part.next === after) break;
      after = part.next;
    }
    expect(titles).to.deep.equal(Array.from({ length: 61 }, (_, at) => String(at)));
    expect(read).to.equal(0);
    await Promise.all([other.admin.close({ deadlineMs: 100 }), other.content.close({ deadlineMs: 100 })]);
  });

  it('limits the size of a page in bytes', async () => {
    const from = await here();
    const type = (await content.dependencies().types.get('default', 'note'))!;
    for (let at = 0; at < 6; at += 1)
      await createEntry({ type, data: { text: 'x'.repeat(900_000) } }, testContext(), content.dependencies());
    await content.project();
    const first = await page(`?after=${from}&limit=100`, call, '/api/v1/content/note');
    expect(first.data).to.have.length(5);
    expect((await page(`?after=${first.next}`, call, '/api/v1/content/note')).data).to.have.length(1);
  });

  it('leaves out masked fields, and still lists a change of masked fields only, with its new version', async () => {
    const from = await here();
    const entry = await create({ title: 'a', secret: 's' });
    await call('PUT', `${PATH}/${entry.id}`, { data: { secret: 't' } });
    const { data } = await page(`?after=${from}`, as('masked'));
    const shown = { title: 'a', views: null, id: entry.id, status: 'draft' };
    expect(data.map(({ version, data: after, old_data }) => [version, after, old_data])).to.deep.equal([
      [1, shown, null],
      [2, shown, shown],
    ]);
  });

  it("returns only changes of the caller's tenant", async () => {
    const from = await here();
    const theirs = await create({ title: 'theirs' }, 'article', as('other'));
    await create({ title: 'ours' });
    expect((await page(`?after=${from}`, as('other'))).data.map(({ entry_id }) => entry_id)).to.deep.equal([theirs.id]);
  });

  it('refuses malformed parameters, unknown types and types that the caller may not read', async () => {
    for (const query of ['?after=1', '?after=', '?after=x', '?limit=0', '?limit=1001', '?limit=ten', '?other=1'])
      expect((await call('GET', `${PATH}/changes${query}`)).status, query).to.equal(400);
    expect(statusAndError(await call('GET', `${PATH}/changes?after=7`))).to.deep.equal([
      400,
      'invalid query parameter: after',
    ]);
    expect(statusAndError(await call('GET', '/api/v1/content/nope/changes'))).to.deep.equal([404, 'schema not found']);
    expect(statusAndError(await call('GET', '/api/v1/content/inbox/changes'))).to.deep.equal([
      405,
      'schema is write-only over this transport',
    ]);
    expect(statusAndError(await as('listed')('GET', `${PATH}/changes`))).to.deep.equal([
      403,
      'schema not allowed for this credential',
    ]);
    expect((await stream('writer', '', { 'last-event-id': 'x' })).status).to.equal(400);
    expect((await stream('writer', '?after=x')).status).to.equal(400);
    expect((await stream('nobody')).status).to.equal(401);
  });

  describe('as server-sent events', () => {
    it('sends the backlog and then live changes, without a gap or a repetition', async () => {
      const from = await here();
      const entry = await create({ title: '0' });
      const source = await stream('writer', `?after=${from}`);
      expect(source.status).to.equal(200);
      expect(source.headers).to.include({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      for (let at = 1; at <= 30; at += 1) await call('PUT', `${PATH}/${entry.id}`, { data: { title: String(at) } });
      await eventually(() => {
        expect(changesOf(source)).to.have.length(31);
      });
      expect(source.raw().startsWith('retry: 3000\n\n')).to.equal(true);
      const { data } = await page(`?after=${from}`);
      expect(changesOf(source)).to.deep.equal(data);
      expect(source.received.map(({ id }) => id)).to.deep.equal(data.map(({ position }) => position));
    });

    it('resumes after Last-Event-ID, which takes precedence over after', async () => {
      const from = await here();
      const entry = await create({ title: 'a' });
      const { next } = await page(`?after=${from}`);
      await call('PUT', `${PATH}/${entry.id}`, { data: { title: 'b' } });
      const source = await stream('writer', `?after=${from}`, { 'last-event-id': next });
      await eventually(() => {
        expect(changesOf(source).map(({ version }) => version)).to.deep.equal([2]);
      });
    });

    it('sends heartbeats that move the position of an idle client past events of other types', async () => {
      const source = await stream('writer', `?after=${await here()}`);
      const note = await create({ text: 'unheard of' }, 'note');
      expect(note.version).to.equal(1);
      const head = await here();
      await eventually(() => {
        expect(source.raw()).to.contain(': heartbeat');
        expect(source.lastId()).to.equal(head);
      });
      expect(source.received).to.deep.equal([]);
    });

    it('releases its stream slot after HEAD', async () => {
      for (let at = 0; at < 8; at += 1) {
        await eventually(async () => {
          expect((await call('HEAD', `${PATH}/changes`, undefined, { accept: 'text/event-stream' })).status).to.equal(
            200,
          );
        });
      }
    });

    it('ends with the reason when the credential expires or the access rules change', async () => {
      const byKey = await stream('leaving', `?after=${await here()}`);
      const byRule = await stream('masked', `?after=${await here()}`);
      delete principals['leaving'];
      mayRead = false;
      expect(await byKey.ended).to.equal('ended');
      expect(await byRule.ended).to.equal('ended');
      mayRead = true;
      principals['leaving'] = apiKey({ keyId: 'k4' });
      expect(
        byKey.received.map(({ event, data }) => [event, (JSON.parse(data) as { code: string }).code]),
      ).to.deep.equal([['closed', 'authentication_required']]);
      expect(
        byRule.received.map(({ event, data }) => [event, (JSON.parse(data) as { code: string }).code]),
      ).to.deep.equal([['closed', 'permission_denied']]);
      await create({ title: 'after they left' });
      expect(changesOf(byKey).length + changesOf(byRule).length).to.equal(0);
    });

    it('limits the open streams of a tenant and of the process, and accepts new ones when others end', async () => {
      const open = await Promise.all([stream(), stream(), stream()]);
      const fourth = await stream();
      expect([fourth.status, fourth.headers['retry-after']]).to.deep.equal([429, '15']);
      expect(JSON.parse(await fourth.text())).to.deep.equal({
        error: 'too many open streams',
        code: 'too_many_streams',
      });
      expect((await stream('other')).status).to.equal(200);
      const over = await stream('other');
      expect([over.status, over.headers['retry-after']]).to.deep.equal([503, '15']);
      open[0].close();
      await eventually(async () => {
        const again = await stream();
        expect(again.status).to.equal(200);
      });
    });
  });
});
