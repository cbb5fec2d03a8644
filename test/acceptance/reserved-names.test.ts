import { expect } from 'chai';
import { type Call, type Reply, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, unknown>> };

/**
 * Keywords and member names of SQL, JSON and JavaScript, and all single letters, which generated code may use as names.
 */
const WORDS = [
  'select',
  'order',
  'user',
  'table',
  'from',
  'where',
  'group',
  'limit',
  'offset',
  'null',
  'true',
  'default',
  'all',
  'any',
  'array',
  'row',
  'values',
  'unnest',
  'tenant',
  'type',
  'search',
  'words',
  'patch',
  'state',
  'base',
  'place',
  'set',
  'set_id',
  'entry_id',
  'type_id',
  'position',
  'moved',
  'at',
  'ids',
  'rows',
  'json',
  'lower',
  'deleted_at',
  'schema',
  'schema_name',
  'locale',
  'sort',
  'filters',
  'fields',
  'q',
  'count',
  'cursor',
  'eq',
  'in',
  'c0',
  'c1',
  'tr',
  'trl',
  'rl',
  'rr',
  'constructor',
  'prototype',
  'hasownproperty',
  'tojson',
  'then',
  'length',
  'title',
  'name',
  ...Array.from('abcdefghijklmnoprstuvwxyz'),
];

describe('fields with names that SQL, JSON or JavaScript use', () => {
  const { owner, ownerContent, database } = useService();
  const text = (word: string) => `${word} "quoted" \\ ' \u2028 😀 שלום`;
  let parent: Entry;
  let entry: Entry;
  const of = (id: string, rest = '') => `/api/v1/content/select/${id}${rest}`;

  before(async () => {
    const fields = [
      ...WORDS.map((name) => ({ name, field_type: 'text', indexed: true })),
      { name: 'of', field_type: 'relation', relation_to: 'select' },
      { name: 'into', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'select' },
      { name: 'union', field_type: 'relation', relation_type: 'has_many', relation_to: 'select' },
    ];
    good(
      await owner('POST', '/api/admin/schemas', {
        name: 'select',
        with_draft_publish: true,
        with_soft_delete: true,
        fields,
      }),
    );
    parent = good(await ownerContent('POST', '/api/v1/content/select', { data: {} })).json<Entry>();
    const data = {
      ...Object.fromEntries(WORDS.map((word) => [word, text(word)])),
      of_id: parent.id,
      into: [parent.id],
    };
    entry = good(await ownerContent('POST', '/api/v1/content/select', { data })).json<Entry>();
    expect(entry.data).to.deep.equal(data);
  });

  const good = (reply: Reply): Reply => {
    expect(reply.status, reply.text).to.be.oneOf([200, 201, 204]);
    return reply;
  };

  it('can be read, filtered, sorted, searched and counted', async () => {
    expect(good(await ownerContent('GET', of(entry.id))).json<Entry>()).to.deep.equal(entry);
    for (const word of WORDS) {
      const query = `filters[${word}]=${encodeURIComponent(text(word))}&filters[_status]=draft&sort=${word},-created_at&fields=${word}&q=quoted&count=true`;
      const list = good(await ownerContent('GET', `/api/v1/content/select?${query}`));
      expect([list.headers['x-total-count'], list.json<Entry[]>().map(({ data }) => data)], word).to.deep.equal([
        '1',
        [{ [word]: text(word) }],
      ]);
    }
  }).timeout(60_000);

  it('can be written one at a time and all at once, without changing other fields', async () => {
    for (const [index, word] of WORDS.entries()) {
      const changed = good(await ownerContent('PUT', of(entry.id), { data: { [word]: `new ${word}` } })).json<Entry>();
      expect(changed.version).to.equal(2 + index);
      expect(changed.data[word]).to.equal(`new ${word}`);
    }
    expect(good(await ownerContent('GET', of(entry.id))).json<Entry>().data).to.deep.include(
      Object.fromEntries(WORDS.map((word) => [word, `new ${word}`])),
    );
    const data = Object.fromEntries(WORDS.map((word) => [word, `newer ${word}`]));
    expect(good(await ownerContent('PUT', of(entry.id), { data })).json<Entry>().data).to.deep.include(data);
  }).timeout(60_000);

  it('appear in related entries, past values, revisions, the console and the SQL view', async () => {
    const related = good(await ownerContent('GET', of(parent.id, '?populate=union&depth=3'))).json<{
      data: { union: Entry[] };
    }>();
    expect(related.data.union.map(({ data }) => data['t'])).to.deep.equal(['newer t']);
    const page = good(await ownerContent('GET', of(entry.id, '/relations/into'))).json<{ total: number }>();
    expect(page.total).to.equal(1);
    const past = good(
      await ownerContent(
        'GET',
        `/api/v1/content/select?as_of=${new Date().toISOString()}&filters[_status]=draft&filters[t]=newer t&populate=*&sort=t&q=newer&count=true`,
      ),
    );
    expect(past.headers['x-total-count']).to.equal('1');
    const diff = good(await ownerContent('GET', of(entry.id, '/revisions/1/diff/2'))).json<{ changes: object[] }>();
    expect(diff.changes).to.deep.equal([{ field: 'select', from: text('select'), to: 'new select' }]);
    expect(
      good(await owner('GET', '/api/admin/content?schema=select&q=newer')).json<{ total: number }>().total,
    ).to.equal(1);
    expect(
      await database.db().query('select t, constructor, "select" from content."select" where t is not null'),
    ).to.deep.equal([{ t: 'newer t', constructor: 'newer constructor', select: 'newer select' }]);
  });

  it('can be renamed, removed permanently and recovered from the history', async () => {
    good(await owner('PUT', '/api/admin/schemas/select/fields/t/rename', { new_name: 'xmin_' }));
    const { fields, ...rest } = good(await owner('GET', '/api/admin/schemas/select')).json<{
      fields: { name: string }[];
    }>();
    good(
      await owner('POST', '/api/admin/schemas', {
        ...rest,
        fields: fields.filter(({ name }) => name !== 'r' && name !== 'constructor'),
      }),
    );
    good(await owner('POST', '/api/admin/schemas/select/apply-pending'));
    good(await owner('POST', '/api/admin/schemas', { ...rest, fields }));
    for (const field of ['r', 'constructor']) {
      expect(good(await owner('POST', `/api/admin/schemas/select/fields/${field}/recover`)).json()).to.deep.include({
        recovered: 1,
      });
    }
    expect(good(await ownerContent('GET', of(entry.id))).json<Entry>().data).to.deep.include({
      xmin_: 'newer t',
      r: 'newer r',
      constructor: 'newer constructor',
    });
  });

  it('do not prevent deletions, and links to deleted entries are removed', async () => {
    good(await ownerContent('DELETE', of(parent.id)));
    expect(good(await ownerContent('GET', of(entry.id))).json<Entry>().data).to.deep.include({ of_id: null, into: [] });
    good(await ownerContent('PUT', of(parent.id, '/undelete')));
  });
});

describe('names of content types', () => {
  const { owner, ownerContent } = useService();

  it('cannot be segments of existing routes', async () => {
    for (const name of ['presets', 'migrate', 'export', 'import']) {
      const reply = await owner('POST', '/api/admin/schemas', { name, fields: [] });
      expect(statusAndError(reply), name).to.deep.equal([422, `invalid schema: name "${name}" is reserved`]);
      if (name !== 'presets')
        expect((await owner('POST', `/api/admin/schemas/${name}/preview`, { fields: [] })).status).to.equal(422);
    }
    await owner('POST', '/api/admin/schemas', { name: 'plain', fields: [] });
    const renamed = await owner('PUT', '/api/admin/schemas/plain/rename', { new_name: 'presets' });
    expect(statusAndError(renamed)).to.deep.equal([422, 'invalid schema: name "presets" is reserved']);
  });

  it('may have 63 characters, like field names, and differ only in the last character', async () => {
    const names = [`${'a'.repeat(62)}b`, `${'a'.repeat(62)}c`] as const;
    const [one, other, link, list] = [`${'f'.repeat(62)}g`, `${'f'.repeat(62)}h`, 'r'.repeat(60), 'm'.repeat(63)];
    const fields = [
      { name: one, field_type: 'text', unique: true },
      { name: other, field_type: 'integer', indexed: true },
      { name: link, field_type: 'relation', relation_to: names[0] },
      { name: list, field_type: 'relation', relation_type: 'many_to_many', relation_to: names[0] },
    ];
    for (const name of names)
      expect((await owner('POST', '/api/admin/schemas', { name, with_draft_publish: true, fields })).status).to.equal(
        200,
      );
    const create = async (name: string, data: object) =>
      (await ownerContent('POST', `/api/v1/content/${name}`, { data })).json<Entry>();
    const target = await create(names[0], { [one]: 'x', [other]: 3 });
    const { id } = await create(names[1], { [one]: 'x', [`${link}_id`]: target.id, [list]: [target.id] });
    const shows = async (call: Call, key: string) => {
      const { data } = (await call('GET', `/api/v1/content/${names[1]}/${id}?populate=*&depth=3`)).json<{
        data: Record<string, { data: object }> & Record<string, { data: object }[]>;
      }>();
      expect([data[link]?.data, data[list]?.[0]?.data]).to.have.nested.property(`0.${key}`, 'x');
    };
    await shows(ownerContent, one);
    const renamed = 'h'.repeat(63);
    expect(
      (await owner('PUT', `/api/admin/schemas/${names[0]}/fields/${one}/rename`, { new_name: renamed })).status,
    ).to.equal(200);
    expect((await owner('PUT', `/api/admin/schemas/${names[0]}/rename`, { new_name: 'd'.repeat(63) })).status).to.equal(
      200,
    );
    await shows(ownerContent, renamed);
    expect(
      (
        await owner('POST', `/api/admin/schemas`, {
          name: 'x',
          fields: [{ name: 'r'.repeat(61), field_type: 'relation', relation_to: 'x' }],
        })
      ).status,
    ).to.equal(422);
  });
});
