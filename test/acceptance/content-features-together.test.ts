import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Call, type Reply, statusAndError } from '../support/http.ts';
import { licenseEnvironment } from '../support/license.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, unknown>> };
type Page = { readonly data: readonly Entry[]; readonly next_cursor: string };

/** Combines features that other tests cover separately. */
describe('combined content features', () => {
  const service = useService({ environment: licenseEnvironment({ capabilities: ['content-pro'] }) });
  const { owner, ownerContent } = service;
  const good = (reply: Reply): Reply => {
    expect(reply.status, reply.text).to.be.oneOf([200, 201, 204]);
    return reply;
  };
  const save = async (name: string, fields: readonly object[], more: object = {}, headers = {}): Promise<Reply> =>
    owner('POST', '/api/admin/schemas', { name, fields, ...more }, headers);
  const create = async (name: string, data: object): Promise<Entry> =>
    good(await ownerContent('POST', `/api/v1/content/${name}`, { data })).json<Entry>();
  const read = async (name: string, id: string, query = ''): Promise<Entry> =>
    good(await ownerContent('GET', `/api/v1/content/${name}/${id}${query}`)).json<Entry>();
  const text = (name: string, more: object = {}) => ({ name, field_type: 'text', ...more });
  const to = (name: string, target: string, more: object = {}) => ({
    name,
    field_type: 'relation',
    relation_to: target,
    ...more,
  });
  /** A time after all earlier writes and before all later writes. */
  async function now(): Promise<string> {
    const moment = new Date().toISOString();
    await eventually(() => expect(new Date().toISOString() > moment).to.equal(true));
    return moment;
  }
  async function walk(call: Call, path: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (let cursor = ''; ;) {
      const page = good(await call('GET', `${path}&cursor=${encodeURIComponent(cursor)}`)).json<Page>();
      entries.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === '') return entries;
    }
  }

  it('page through a past time sorted by an empty relation, with past related entries and current field masks', async () => {
    good(await save('author', [text('name'), text('secret')]));
    good(await save('post', [text('title'), text('hidden'), to('author', 'author'), to('boss', 'author')]));
    const [ann, bob] = [
      await create('author', { name: 'Ann', secret: 'x' }),
      await create('author', { name: 'Bob', secret: 'y' }),
    ];
    const one = await create('post', { title: 'one', hidden: 'deep', author_id: ann.id, boss_id: bob.id });
    await create('post', { title: 'two', author_id: null });
    await create('post', { title: 'three', author_id: bob.id, hidden: 'deep' });
    const then = await now();
    await ownerContent('PUT', `/api/v1/content/author/${ann.id}`, { data: { name: 'Anna' } });
    await ownerContent('PUT', `/api/v1/content/post/${one.id}`, { data: { title: 'uno', author_id: null } });
    for (const [schema_name, field_mask] of [
      ['post', ['hidden', 'boss']],
      ['author', ['secret']],
    ] as const)
      good(await owner('POST', '/api/admin/permissions', { role: 'editor', schema_name, actions: ['*'], field_mask }));
    const editor = await service.key({ roles: ['editor'] });
    for (const [sort, titles] of [
      ['author_id', ['one', 'three', 'two']],
      ['-author', ['two', 'three', 'one']],
    ] as const) {
      const entries = await walk(editor, `/api/v1/content/post/cursor?as_of=${then}&sort=${sort}&populate=*&limit=1`);
      expect(entries.map(({ data }) => data['title'])).to.deep.equal(titles);
      const [, shown] =
        Object.entries(entries.find(({ data }) => data['title'] === 'one')?.data ?? {}).find(
          ([name]) => name === 'author',
        ) ?? [];
      expect(shown).to.deep.include({ data: { name: 'Ann' } });
      for (const { data } of entries) expect(data).to.have.all.keys('title', 'author_id', 'author');
    }
    expect(
      await walk(editor, `/api/v1/content/post/cursor?as_of=${then}&q=deep`),
      'words of a masked field',
    ).to.deep.equal([]);
    for (const query of [
      'filters[boss]=x',
      'filters[boss_id][$null]=true',
      'sort=boss',
      'populate=boss',
      'fields=boss_id',
    ])
      expect((await editor('GET', `/api/v1/content/post?as_of=${then}&${query}`)).status, query).to.equal(400);
  });

  it('apply the transports of a type to all its routes and to related entries, but not to the console', async () => {
    good(await save('closed', [text('title')]));
    good(await save('open', [to('closed', 'closed')]));
    const entry = await create('closed', { title: 't' });
    const opener = await create('open', { closed_id: entry.id });
    const at = (rest: string) => `/api/v1/content/closed${rest}`;
    const reads = [
      '',
      '/cursor',
      '/changes',
      `?as_of=${new Date().toISOString()}`,
      `/${entry.id}`,
      `/${entry.id}/revisions`,
      `/${entry.id}/revisions/1`,
      `/${entry.id}/revisions/1/diff/1`,
      `/${entry.id}/blame`,
    ];
    const writes = [
      ['POST', '', { data: {} }],
      ['POST', '/bulk', { entries: [{ data: {} }] }],
      ['PUT', `/${entry.id}`, { data: {} }],
      ['PUT', `/${entry.id}/revisions/1/restore`],
      ['PUT', `/${entry.id}/publish`],
      ['DELETE', `/${entry.id}`],
    ] as const;
    for (const [mode, read_, write] of [
      ['r', [200, undefined], [405, 'schema is read-only over this transport']],
      ['w', [405, 'schema is write-only over this transport'], undefined],
      ['off', [404, 'schema not found'], [404, 'schema not found']],
    ] as const) {
      good(await save('closed', [text('title')], { transports: { rest: mode } }));
      for (const path of reads) {
        const reply = await ownerContent('GET', at(path));
        expect(
          read_[0] === 200 ? [reply.status, undefined] : statusAndError(reply),
          `${mode} GET ${path}`,
        ).to.deep.equal(read_);
      }
      if (write)
        for (const [method, path, body] of writes)
          expect(statusAndError(await ownerContent(method, at(path), body)), `${mode} ${method} ${path}`).to.deep.equal(
            write,
          );
      else expect((await ownerContent('PUT', at(`/${entry.id}`), { data: { title: 'written' } })).status).to.equal(200);
      const populated = (await read('open', opener.id, '?populate=closed')).data;
      expect(Object.keys(populated)).to.deep.equal(mode === 'r' ? ['closed_id', 'closed'] : ['closed_id']);
      expect((await ownerContent('GET', `/api/v1/content/open/${opener.id}/relations/closed`)).status).to.equal(
        mode === 'r' ? 200 : 403,
      );
      expect([
        (await owner('GET', `/api/admin/content/${entry.id}`)).status,
        (await owner('PUT', `/api/admin/content/${entry.id}`, { data: { title: mode } })).status,
      ]).to.deep.equal([200, 200]);
    }
  });

  it('keep required, unique, default and rules separate for each tenant of a shared table', async () => {
    good(await owner('POST', '/api/admin/tenants', { slug: 'acme' }));
    const there = { 'x-tenant-id': 'acme' };
    const post = (data: object, headers = {}) => ownerContent('POST', '/api/v1/content/shared', { data }, headers);
    good(
      await save('shared', [
        text('t', { required: true, unique: true, validation: [{ rule: 'max_length', params: { value: 3 } }] }),
      ]),
    );
    good(await save('shared', [text('t', { default: 'by default' })], { with_draft_publish: true }, there));
    expect((await save('shared', [{ name: 't', field_type: 'integer' }], {}, there)).json()['error']).to.equal(
      'another schema shares this table and defines it differently: field "t" is text there and int8 here',
    );
    const own = good(await post({ t: 'a' })).json<Entry>();
    for (const [data, status] of [
      [{}, 422],
      [{ t: 'long' }, 422],
      [{ t: 'a' }, 409],
    ] as const)
      expect((await post(data)).status).to.equal(status);
    for (const data of [{}, {}, { t: 'a' }]) good(await post(data, there));
    expect(statusAndError(await save('shared', [text('t', { unique: true })], {}, there))).to.deep.equal([
      422,
      'schema migration failed',
    ]);
    good(await save('shared', []));
    expect(good(await owner('POST', '/api/admin/schemas/shared/apply-pending')).json()).to.deep.include({ applied: 1 });
    const theirs = good(
      await ownerContent('GET', '/api/v1/content/shared?filters[_status]=draft&sort=t', undefined, there),
    ).json<Entry[]>();
    expect(theirs.map(({ data }) => data['t'])).to.deep.equal(['a', 'by default', 'by default']);
    expect((await read('shared', own.id)).data).to.deep.equal({});
    good(await owner('PUT', '/api/admin/schemas/shared/rename', { new_name: 'theirs' }, there));
    expect(
      good(await ownerContent('GET', '/api/v1/content/theirs?filters[_status]=draft&count=true', undefined, there))
        .headers['x-total-count'],
    ).to.equal('3');
    expect(good(await ownerContent('GET', '/api/v1/content/shared?count=true')).headers['x-total-count']).to.equal('1');
  });

  it('convert past values, revisions and unique values when a field changes its type', async () => {
    const field = (field_type: string) => [{ name: 'v', field_type, unique: true }];
    good(await save('typed', field('number')));
    const [small, large] = [await create('typed', { v: 0.00001 }), await create('typed', { v: 1e20 })];
    const then = await now();
    for (const type of ['text', 'number', 'decimal', 'text']) good(await save('typed', field(type)));
    for (const { id } of [small, large]) {
      const { data } = await read('typed', id);
      for (const path of [`?as_of=${then}`, '/revisions/1'])
        expect(
          good(await ownerContent('GET', `/api/v1/content/typed/${id}${path}`)).json<Entry>().data,
          path,
        ).to.deep.equal(data);
      expect((await ownerContent('POST', '/api/v1/content/typed', { data })).status, 'is held').to.equal(409);
      expect(
        good(await ownerContent('PUT', `/api/v1/content/typed/${id}/revisions/1/restore`)).json<Entry>().version,
        'nothing to restore',
      ).to.equal(1);
    }
    expect((await read('typed', small.id)).data).to.deep.equal({ v: '0.00001' });
  });

  it('enforce a unique field again on its current values when it was removed and restored', async () => {
    const fields = [text('code', { unique: true }), text('title')];
    good(await save('coded', fields));
    const [gone, kept] = [await create('coded', { code: 'gone' }), await create('coded', { code: 'kept' })];
    good(await owner('PUT', '/api/admin/schemas/coded/fields/code/rename', { new_name: 'number' }));
    expect(
      (await ownerContent('POST', '/api/v1/content/coded', { data: { number: 'kept' } })).status,
      'the claim moves with the name',
    ).to.equal(409);
    good(await save('coded', [text('title')]));
    good(await ownerContent('DELETE', `/api/v1/content/coded/${gone.id}`));
    good(await save('coded', [text('number', { unique: true }), text('title')]));
    await create('coded', { number: 'gone' });
    expect((await ownerContent('POST', '/api/v1/content/coded', { data: { number: 'kept' } })).status).to.equal(409);
    expect((await read('coded', kept.id)).data['number']).to.equal('kept');
  });

  it('undo the publication of a release as one batch', async () => {
    good(await save('news', [text('title')], { with_draft_publish: true }));
    const ids = [(await create('news', { title: 'a' })).id, (await create('news', { title: 'b' })).id];
    const { id } = good(await owner('POST', '/api/admin/releases', { name: 'r' })).json<{ id: string }>();
    good(
      await owner('PUT', `/api/admin/releases/${id}/entries`, {
        items: ids.map((entry_id) => ({ entry_id, action: 'publish' })),
      }),
    );
    const published = good(await owner('POST', `/api/admin/releases/${id}/publish`));
    const listed = async () =>
      (await ownerContent('GET', '/api/v1/content/news?sort=title')).json<Entry[]>().map((entry) => entry.id);
    expect(await listed()).to.deep.equal(ids);
    const undone = good(
      await owner('POST', '/api/admin/undo', { correlation_id: published.headers['x-correlation-id'], apply: true }),
    ).json<{ totals: object }>();
    expect(undone.totals).to.deep.include({ entries: 2, changed: 2, in_the_way: 0 });
    expect(await listed()).to.deep.equal([]);
  });

  it('write, list, populate, read past values of, and search a type with 500 fields', async () => {
    const kinds = [
      'text',
      'rich_text',
      'number',
      'integer',
      'decimal',
      'boolean',
      'date',
      'datetime',
      'time',
      'json',
      'uuid',
      'email',
      'url',
    ];
    const samples: Record<string, unknown> = {
      text: 'wide',
      rich_text: '<p>r</p>',
      number: 0.5,
      integer: 7,
      decimal: '1.50',
      boolean: true,
      date: '2026-01-01',
      datetime: '2026-01-01T00:00:00.000Z',
      time: '10:00:00',
      json: { a: [1] },
      uuid: '0190b3a8-0000-7000-8000-000000000001',
      email: 'a@b.co',
      url: 'https://x.y/z',
    };
    const kind = (index: number) => kinds[index % kinds.length] ?? 'text';
    const data = Object.fromEntries(Array.from({ length: 490 }, (_, index) => [`f${index}`, samples[kind(index)]]));
    const fields = [
      ...Object.keys(data).map((name, index) => ({ name, field_type: kind(index) })),
      ...Array.from({ length: 5 }, (_, n) => to(`r${n}`, 'wide')),
      ...Array.from({ length: 5 }, (_, n) => to(`m${n}`, 'wide', { relation_type: 'many_to_many' })),
    ];
    good(await save('wide', fields));
    const target = await create('wide', data);
    const links = {
      ...Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`r${n}_id`, target.id])),
      ...Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`m${n}`, [target.id]])),
    };
    const { id } = await create('wide', { ...data, ...links });
    expect(
      good(
        await ownerContent('POST', '/api/v1/content/wide/bulk', {
          entries: Array.from({ length: 20 }, () => ({ data })),
        }),
      ).json(),
    ).to.deep.include({ created: 20 });
    expect(
      good(await ownerContent('PUT', `/api/v1/content/wide/${id}`, { data: { ...data, f0: 'wider' } })).json<Entry>()
        .data,
    ).to.deep.equal({ ...data, ...links, f0: 'wider' });
    for (const query of ['', `as_of=${await now()}&`]) {
      const [entry] = good(
        await ownerContent('GET', `/api/v1/content/wide?${query}populate=*&q=wider&sort=f0,-f2`),
      ).json<{ data: { m4: Entry[]; r4: Entry } }[]>();
      expect([entry?.data.m4[0]?.data, entry?.data.r4.data]).to.deep.equal([target.data, target.data]);
    }
    expect(
      (await owner('PUT', '/api/admin/schemas/wide', { fields: [...fields, text('more')] })).json()['error'],
    ).to.equal('fields must contain at most 500 items');
  }).timeout(60_000);
});
