import { expect } from 'chai';
import type { Json } from '../../domain/json.ts';
import { type Call, type Reply, resultOf } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, Json>> };
type Field = { readonly name: string; readonly field_type: string; readonly validation?: readonly object[] } & Readonly<
  Record<string, Json | readonly object[]>
>;

const rule = (name: string, params: object) => ({ rule: name, params });
const ruled = (name: string, field_type: string, ...validation: readonly object[]): Field => ({
  name,
  field_type,
  validation,
});
const path = '/api/v1/content/ruled';

/** Each validation rule on each kind of field type: valid values, and invalid values with the message. */
const CASES: readonly {
  readonly field: Field;
  readonly good: readonly Json[];
  readonly bad: readonly (readonly [Json, string])[];
}[] = [
  {
    field: ruled('kind', 'text', rule('enum', { values: ['a', 'b'] })),
    good: ['a', 'b', '', null],
    bad: [
      ['c', 'must be one of the allowed values'],
      ['A', 'must be one of the allowed values'],
    ],
  },
  {
    field: ruled('rank', 'integer', rule('enum', { values: [1, 2] })),
    good: [1, null],
    bad: [[3, 'must be one of the allowed values']],
  },
  {
    field: ruled('price_list', 'decimal', rule('enum', { values: ['1.5'] })),
    good: ['1.50', 1.5],
    bad: [['1.51', 'must be one of the allowed values']],
  },
  {
    field: ruled('count', 'integer', rule('min', { value: 0 }), rule('max', { value: 10 })),
    good: [0, 10],
    bad: [
      [-1, 'must be at least 0'],
      [11, 'must be at most 10'],
    ],
  },
  {
    field: ruled('ratio', 'number', rule('min', { value: -0.5 }), rule('max', { value: 0.5 })),
    good: [-0.5, 0.5, 0],
    bad: [
      [-0.51, 'must be at least -0.5'],
      [1e300, 'must be at most 0.5'],
    ],
  },
  {
    field: ruled('price', 'decimal', rule('min', { value: '0.1' }), rule('max', { value: '99999999999999999999.99' })),
    good: ['0.10', '99999999999999999999.99'],
    bad: [
      ['0.09', 'must be at least 0.1'],
      ['100000000000000000000', 'must be at most 99999999999999999999.99'],
    ],
  },
  {
    field: ruled('day', 'date', rule('min', { value: '2024-02-29' })),
    good: ['2024-02-29', '9999-12-31'],
    bad: [['2024-02-28', 'must be at least 2024-02-29']],
  },
  {
    field: ruled('moment', 'datetime', rule('max', { value: '2024-01-01T00:00:00Z' })),
    good: ['2024-01-01T01:00:00+01:00'],
    bad: [['2024-01-01T00:00:00.001Z', 'must be at most 2024-01-01T00:00:00.000Z']],
  },
  {
    field: ruled('hour', 'time', rule('min', { value: '08:00' }), rule('max', { value: '17:30' })),
    good: ['08:00', '17:30:00'],
    bad: [
      ['07:59:59.999', 'must be at least 08:00:00'],
      ['17:30:00.001', 'must be at most 17:30:00'],
    ],
  },
  {
    field: ruled('word', 'text', rule('min_length', { value: 2 }), rule('max_length', { value: 3 })),
    good: ['ab', '😀😀😀', ''],
    bad: [
      ['a', 'must have at least 2 characters'],
      ['abcd', 'must have at most 3 characters'],
    ],
  },
  {
    field: ruled('body', 'rich_text', rule('max_length', { value: 5 })),
    good: ['<p/>'],
    bad: [['<p></p>', 'must have at most 5 characters']],
  },
  {
    field: ruled('home', 'url', rule('pattern', { pattern: '^https://' })),
    good: ['https://a.example/'],
    bad: [['http://a.example/', 'does not match the pattern']],
  },
  {
    field: ruled('mail', 'email', rule('pattern', { pattern: '@example\\.org$' })),
    good: ['a@example.org'],
    bad: [['a@example.com', 'does not match the pattern']],
  },
  {
    field: ruled('code', 'slug', rule('pattern', { pattern: '^[a-z]+$' })),
    good: ['abc'],
    bad: [['a-1', 'does not match the pattern']],
  },
  // A backtracking regular expression engine does not finish with this pattern.
  {
    field: ruled('hostile', 'text', rule('pattern', { pattern: '^(a+)+$' })),
    good: ['aaaa'],
    bad: [[`${'a'.repeat(5000)}!`, 'does not match the pattern']],
  },
];

describe('validation rules over HTTP', () => {
  const service = useService();
  let key: Call;

  before(async () => {
    const fields = [
      ...CASES.map(({ field }) => field),
      ruled('from', 'datetime'),
      ruled('until', 'datetime', rule('compare', { op: 'gt', field: 'from' })),
      ruled('least', 'decimal'),
      ruled(
        'most',
        'decimal',
        rule('compare', { op: 'gte', field: 'least' }),
        rule('compare', { op: 'ne', field: 'least' }),
      ),
      { name: 'title', field_type: 'text', required: true },
      { name: 'state', field_type: 'text', required: true, default: 'new' },
      { name: 'hits', field_type: 'integer', default: 0 },
      { name: 'meta', field_type: 'json', default: { a: [1] } },
      { name: 'cover', field_type: 'media' },
    ];
    const saved = await service.owner('POST', '/api/admin/schemas', { name: 'ruled', fields });
    expect(saved.status, saved.text).to.equal(200);
    key = await service.key({});
  });

  const post = (data: object) => key('POST', path, { data: { title: 't', ...data } });
  const refusal = (reply: Reply) => [reply.status, reply.json()['error'], reply.json<{ fields?: unknown }>().fields];
  const refused = (field: string, message: string) => [422, 'validation failed', [{ field, message }]];
  async function make(data: object = {}): Promise<Entry> {
    return resultOf<Entry>(await post(data), 201);
  }

  for (const { field, good, bad } of CASES) {
    it(`accept only valid values of ${field.name} (${field.field_type}) in creates and updates`, async () => {
      const entry = await make();
      const put = (value: Json) => key('PUT', `${path}/${entry.id}`, { data: { [field.name]: value } });
      for (const value of good) {
        expect((await post({ [field.name]: value })).status, JSON.stringify(value)).to.equal(201);
        expect((await put(value)).status, JSON.stringify(value)).to.equal(200);
      }
      for (const [value, message] of bad) {
        expect(refusal(await post({ [field.name]: value }))).to.deep.equal(refused(field.name, message));
        expect(refusal(await put(value))).to.deep.equal(refused(field.name, message));
      }
    });
  }

  it('compare a changed field with the stored value of the other field', async () => {
    expect(refusal(await post({ from: '2024-01-02T00:00:00Z', until: '2024-01-02T00:00:00Z' }))).to.deep.equal(
      refused('until', 'must be greater than from'),
    );
    const entry = await make({ from: '2024-01-01T00:00:00Z', until: '2024-01-02T00:00:00Z', least: '1.0', most: '2' });
    const put = (data: object) => key('PUT', `${path}/${entry.id}`, { data });
    expect(refusal(await put({ from: '2024-01-03T00:00:00Z' }))).to.deep.equal(
      refused('until', 'must be greater than from'),
    );
    expect(refusal(await put({ most: '1.00' }))).to.deep.equal(refused('most', 'must differ from least'));
    expect(refusal(await put({ least: '10' }))).to.deep.equal(refused('most', 'must be at least least'));
    expect((await put({ from: '2024-01-03T00:00:00Z', until: '2024-01-04T00:00:00Z' })).status).to.equal(200);
    expect((await put({ until: null })).status).to.equal(200);
    expect((await put({ from: '2030-01-01T00:00:00Z' })).status).to.equal(200);
  });

  it('apply a default to an absent field of a create, but not to null and not to an update', async () => {
    const entry = await make();
    expect(entry.data).to.deep.include({ state: 'new', hits: 0, meta: { a: [1] } });
    expect((await make({ hits: null, meta: null })).data).to.deep.include({ hits: null, meta: null });
    expect(refusal(await post({ state: null }))).to.deep.equal(refused('state', 'is required'));
    const put = (data: object) => key('PUT', `${path}/${entry.id}`, { data });
    expect((await put({ hits: null })).json<Entry>().data).to.deep.include({ hits: null, state: 'new' });
    expect((await put({ title: 'u' })).json<Entry>().data).to.deep.include({ hits: null });
    for (const state of [null, ''])
      expect(refusal(await put({ state }))).to.deep.equal(refused('state', 'is required'));
    expect(refusal(await key('POST', path, { data: {} }))).to.deep.equal(refused('title', 'is required'));
  });

  it('require an id as the value of a media field', async () => {
    expect((await make({ cover: '0190D3A0-0000-7000-8000-000000000001' })).data['cover']).to.equal(
      '0190d3a0-0000-7000-8000-000000000001',
    );
    for (const cover of ['x', {}, 1, ['0190d3a0-0000-7000-8000-000000000001']])
      expect(refusal(await post({ cover }))).to.deep.equal(refused('cover', 'must be the id of a media file'));
    expect((await make({ cover: '' })).data['cover']).to.equal(null);
  });

  it('report all invalid fields in one response', async () => {
    const reply = await key('POST', path, { data: { kind: 'c', count: -1, nope: 1, hits: 'x' } });
    expect(
      reply
        .json<{ fields: readonly { readonly field: string }[] }>()
        .fields.map(({ field }) => field)
        .toSorted(),
    ).to.deep.equal(['count', 'hits', 'kind', 'nope', 'title']);
  });

  it('are refused in a content type when they do not fit the type of their field', async () => {
    for (const field of [
      ruled('f', 'text', rule('min', { value: 1 })),
      ruled('f', 'integer', rule('min_length', { value: 1 })),
      ruled('f', 'boolean', rule('max', { value: 1 })),
      ruled('f', 'integer', rule('pattern', { pattern: 'a' })),
      ruled('f', 'text', rule('pattern', { pattern: '(?=a)' })),
      ruled('f', 'text', rule('enum', { values: [] })),
      ruled('f', 'integer', rule('enum', { values: ['a'] })),
      ruled('f', 'text', rule('compare', { op: 'gt', field: 'nope' })),
      ruled('f', 'json', rule('compare', { op: 'gt', field: 'g' })),
      ruled('f', 'text', rule('nope', {})),
      ruled('f', 'integer', rule('min', {})),
      { name: 'f', field_type: 'integer', default: 'x' },
    ]) {
      const reply = await service.owner('POST', '/api/admin/schemas', {
        name: 'wrong',
        fields: [field, { name: 'g', field_type: 'json' }],
      });
      expect(reply.status, JSON.stringify(field)).to.equal(422);
      expect(reply.json()['error']).to.match(/^invalid schema: field "f": /);
    }
  });
});
