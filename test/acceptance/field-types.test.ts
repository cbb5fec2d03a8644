import { expect } from 'chai';
import { FIELD_TYPES } from '../../domain/content/definition.ts';
import type { Json } from '../../domain/json.ts';
import { type Call, resultOf, statusAndError } from '../support/http.ts';
import { useService } from '../support/service.ts';

type Entry = { readonly id: string; readonly version: number; readonly data: Readonly<Record<string, Json>> };
type Definition = { readonly name: string; readonly fields: readonly Readonly<Record<string, Json>>[] };

const UUIDS = ['0190d3a0-0000-7000-8000-000000000001', '0190d3a0-0000-7000-8000-000000000002'] as const;

/** A field of each type with two values, `low` < `high`. `like` is a part of `low` only. */
const FIELDS: readonly {
  readonly type: string;
  readonly low: Json;
  readonly high: Json;
  readonly like?: string;
  readonly unordered?: true;
  readonly unfiltered?: true;
}[] = [
  { type: 'text', low: 'Ärger & "quotes"\n', high: 'Ü – 🦉', like: 'quotes' },
  { type: 'rich_text', low: '<p>alpha</p>', high: '<p>beta</p>', like: 'alpha' },
  { type: 'url', low: 'https://a.example.org/x?y=1&z=2#f', high: 'https://b.example.org/', like: 'a.example' },
  { type: 'email', low: 'a.person@example.org', high: 'b@example.org', like: 'person' },
  { type: 'slug', low: 'a-slug', high: 'b-slug', like: 'a-' },
  { type: 'number', low: -1.5e-7, high: 1.7976931348623157e308 },
  { type: 'integer', low: -9007199254740991, high: 9007199254740991 },
  { type: 'decimal', low: '-12345678901234567890.123456789', high: '0.10' },
  { type: 'boolean', low: false, high: true, unordered: true },
  { type: 'date', low: '1600-02-29', high: '2026-11-20' },
  { type: 'datetime', low: '1969-12-31T23:59:59.999Z', high: '2026-11-20T12:34:56.789Z' },
  { type: 'time', low: '00:00:00', high: '23:59:59.5' },
  { type: 'uuid', low: UUIDS[0], high: UUIDS[1], unordered: true },
  {
    type: 'json',
    low: { list: [1, null, 'x'], deep: { a: true } },
    high: ['array'],
    unordered: true,
    unfiltered: true,
  },
  { type: 'media', low: UUIDS[0], high: UUIDS[1], unordered: true },
];

const named = (type: string) => `a_${type}`;
const one = (side: 'low' | 'high') => Object.fromEntries(FIELDS.map((field) => [named(field.type), field[side]]));

describe('a content type with every field type', () => {
  const service = useService();
  const definition = {
    name: 'everything',
    display_name: 'Everything',
    with_created_at: true,
    with_updated_at: true,
    with_soft_delete: false,
    with_draft_publish: false,
    fields: [
      ...FIELDS.map(({ type }) => ({ name: named(type), field_type: type })),
      { name: 'parent', field_type: 'relation', relation_to: 'everything', relation_type: 'belongs_to' },
      {
        name: 'children',
        field_type: 'relation',
        relation_to: 'everything',
        relation_type: 'has_many',
        relation_field: 'parent',
      },
      { name: 'friends', field_type: 'relation', relation_to: 'everything', relation_type: 'many_to_many' },
    ],
  };
  const path = '/api/v1/content/everything';
  let key: Call;
  let low: Entry;
  let high: Entry;
  let empty: Entry;

  before(async () => {
    const saved = await service.owner('POST', '/api/admin/schemas', definition);
    expect(saved.status, saved.text).to.equal(200);
    key = await service.key({});
    const create = async (data: object) => {
      return resultOf<Entry>(await key('POST', path, { data }), 201);
    };
    low = await create(one('low'));
    high = await create({ ...one('high'), parent_id: low.id });
    empty = await create({});
  });

  async function idsOf(query: string): Promise<readonly string[]> {
    const reply = await key('GET', `${path}?${query}`);
    expect(reply.status, `${query}: ${reply.text}`).to.equal(200);
    return reply.json<Entry[]>().map(({ id }) => id);
  }

  it('covers every field type', () => {
    expect([...FIELDS.map(({ type }) => type), 'relation'].toSorted()).to.deep.equal([...FIELD_TYPES].toSorted());
  });

  it('is returned as it was saved, and saving it again changes nothing', async () => {
    const found = (await service.owner('GET', '/api/admin/schemas/everything')).json<Definition>();
    expect(found).to.deep.include({
      name: 'everything',
      display_name: 'Everything',
      with_created_at: true,
      with_updated_at: true,
      with_soft_delete: false,
      with_draft_publish: false,
    });
    expect(found.fields).to.have.length(definition.fields.length);
    for (const [index, field] of definition.fields.entries()) expect(found.fields[index]).to.deep.include(field);
    expect(
      (await service.owner('GET', '/api/admin/schemas')).json<Definition[]>().find(({ name }) => name === 'everything'),
    ).to.deep.equal(found);
    const before = (await service.owner('GET', '/api/admin/schemas/everything/history')).json<{
      statements: unknown[];
    }>().statements;
    const again = await service.owner('PUT', '/api/admin/schemas/everything', found);
    expect(again.status, again.text).to.equal(200);
    expect(again.json()).to.deep.equal(found);
    expect(
      (await service.owner('GET', '/api/admin/schemas/everything/history')).json<{ statements: unknown[] }>()
        .statements,
    ).to.deep.equal(before);
    const shown = (await key('GET', '/api/v1/schemas/everything')).json<Definition>();
    expect(shown.fields.map(({ name, field_type }) => [name, field_type])).to.deep.equal(
      definition.fields.map(({ name, field_type }) => [name, field_type]),
    );
  });

  it('returns values as they were written by creates, reads, lists, updates and revisions', async () => {
    expect(low.data).to.deep.include(one('low'));
    expect(high.data).to.deep.include({ ...one('high'), parent_id: low.id });
    const read = (await key('GET', `${path}/${low.id}`)).json<Entry>();
    expect(read).to.deep.equal(low);
    expect((await key('GET', `${path}?sort=created_at`)).json()).to.deep.equal([low, high, empty]);
    expect((await key('GET', `${path}/${empty.id}`)).json<Entry>().data).to.deep.equal(empty.data);

    const changed = (await key('PUT', `${path}/${low.id}`, { data: one('high') })).json<Entry>();
    expect(changed.data).to.deep.include(one('high'));
    expect((await key('GET', `${path}/${low.id}`)).json()).to.deep.equal(changed);
    const revisions = (await key('GET', `${path}/${low.id}/revisions`)).json<{ id: string; changed: string[] }[]>();
    expect(revisions[0]?.changed.toSorted()).to.deep.equal(FIELDS.map(({ type }) => named(type)).toSorted());
    const first = await key('GET', `${path}/${low.id}/revisions/${revisions[1]?.id}`);
    expect(first.json<Entry>().data).to.deep.include(one('low'));
    const restored = await key('PUT', `${path}/${low.id}/revisions/${revisions[1]?.id}/restore`);
    expect(restored.json<Entry>().data).to.deep.equal(low.data);
  });

  for (const { type, low: lower, high: higher, like, unordered, unfiltered } of FIELDS) {
    const name = named(type);
    const text = (value: Json) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
    if (unfiltered) {
      it(`${type}: supports only the filters $null and $notNull`, async () => {
        expect(await idsOf(`filters[${name}][$null]=true`)).to.deep.equal([empty.id]);
        expect(await idsOf(`filters[${name}][$notNull]=true&sort=created_at`)).to.deep.equal([low.id, high.id]);
        expect((await key('GET', `${path}?filters[${name}]=1`)).status).to.equal(400);
        expect((await key('GET', `${path}?sort=${name}`)).status).to.equal(400);
      });
      continue;
    }
    it(`${type}: supports filters and sorting`, async () => {
      expect(await idsOf(`filters[${name}]=${text(lower)}`), 'equal').to.deep.equal([low.id]);
      expect(await idsOf(`filters[${name}][$eq]=${text(higher)}`), '$eq').to.deep.equal([high.id]);
      expect(await idsOf(`filters[${name}][$in]=${text(higher)}`), '$in').to.deep.equal([high.id]);
      expect(await idsOf(`filters[${name}][$null]=true`), '$null').to.deep.equal([empty.id]);
      const ordering = [
        `filters[${name}][$gt]=${text(lower)}`,
        `filters[${name}][$lte]=${text(lower)}`,
        `filters[${name}][$between]=${text(higher)}&filters[${name}][$between]=${text(higher)}`,
      ];
      if (unordered) expect((await key('GET', `${path}?${ordering[0]}`)).status, '$gt').to.equal(400);
      else expect(await Promise.all(ordering.map(idsOf))).to.deep.equal([[high.id], [low.id], [high.id]]);
      const contains = `${path}?filters[${name}][$contains]=${encodeURIComponent(like ?? '1')}`;
      if (like === undefined) expect((await key('GET', contains)).status, '$contains').to.equal(400);
      else expect((await key('GET', contains)).json<Entry[]>().map(({ id }) => id)).to.deep.equal([low.id]);
      const sorted = await idsOf(`sort=${name}&filters[${name}][$notNull]=true`);
      expect(sorted, 'sort').to.deep.equal([low.id, high.id]);
      expect(await idsOf(`sort=-${name}&filters[${name}][$notNull]=true`), 'sort downwards').to.deep.equal([
        high.id,
        low.id,
      ]);
      const walked: string[] = [];
      for (let cursor = ''; ;) {
        const page = (
          await key('GET', `${path}/cursor?limit=1&sort=${name}&cursor=${encodeURIComponent(cursor)}`)
        ).json<{ data: Entry[]; next_cursor: string }>();
        walked.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
        if (cursor === '') break;
      }
      expect(walked.toSorted(), 'the cursor passes every entry once').to.deep.equal(
        [low.id, high.id, empty.id].toSorted(),
      );
    });
  }

  it('filters a belongs_to relation by its id, and refuses the id of a missing entry', async () => {
    expect(await idsOf(`filters[parent_id]=${low.id}`)).to.deep.equal([high.id]);
    expect(await idsOf(`filters[parent]=${low.id}`)).to.deep.equal([high.id]);
    const missing = await key('POST', path, { data: { parent: UUIDS[0] } });
    expect(statusAndError(missing)).to.deep.equal([422, `related entry not found: ${UUIDS[0]}`]);
  });

  it('provides typed columns for SQL in the view content.everything', async () => {
    const columns = await service.database
      .db()
      .query<{ name: string; type: string }>(
        `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'content.everything'::regclass and attnum > 0 and not attisdropped`,
      );
    const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
    expect(types).to.deep.include({
      id: 'uuid',
      tenant_id: 'text',
      a_text: 'text',
      a_rich_text: 'text',
      a_url: 'text',
      a_email: 'text',
      a_slug: 'text',
      a_number: 'double precision',
      a_integer: 'bigint',
      a_decimal: 'numeric',
      a_boolean: 'boolean',
      a_date: 'date',
      a_datetime: 'timestamp(3) with time zone',
      a_time: 'time(3) without time zone',
      a_uuid: 'uuid',
      a_json: 'jsonb',
      a_media: 'uuid',
      parent_id: 'uuid',
      friends: 'uuid[]',
    });
    const rows = await service.database
      .db()
      .query<{ row: Record<string, Json> }>(
        `select to_jsonb(v) || jsonb_build_object('a_decimal', a_decimal::text, 'a_datetime', to_char(a_datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as row from content.everything v where id = any($1) order by created_at`,
        [[low.id, high.id]],
      );
    expect(rows.map(({ row }) => row)).to.have.length(2);
    expect(rows[0]?.row).to.deep.include({
      id: low.id,
      tenant_id: 'default',
      ...one('low'),
      parent_id: null,
      friends: [],
    });
    expect(rows[1]?.row).to.deep.include({ id: high.id, version: high.version, ...one('high'), parent_id: low.id });
  });

  it('refuses an invalid value of each type and names the field', async () => {
    const wrong: Readonly<Record<string, Json>> = {
      text: 1,
      rich_text: [],
      url: 'no url',
      email: 'nobody',
      slug: 'Not A Slug',
      number: '1',
      integer: 9007199254740992,
      decimal: '1,5',
      boolean: 'true',
      date: '2025-02-29',
      datetime: '2026-11-20',
      time: '24:00',
      uuid: 'x',
      media: 7,
    };
    const reply = await key('POST', path, {
      data: Object.fromEntries(Object.entries(wrong).map(([type, value]) => [named(type), value])),
    });
    expect(reply.status).to.equal(422);
    expect(
      reply
        .json<{ fields: { field: string }[] }>()
        .fields.map(({ field }) => field)
        .toSorted(),
    ).to.deep.equal(Object.keys(wrong).map(named).toSorted());
  });
});
