import { expect } from 'chai';
import fc from 'fast-check';
import { toStatements } from '../../../../application/content/to-statement.ts';
import { convertThrough, convertValue } from '../../../../domain/content/convert-value.ts';
import { parseDecimal } from '../../../../domain/content/decimal.ts';
import {
  type ContentTypeDefinition,
  FIELD_TYPES,
  type FieldDefinition,
} from '../../../../domain/content/definition.ts';
import {
  FIELD_TYPE_SPECS,
  SCALAR_COLUMN_TYPES,
  type ScalarColumnType,
} from '../../../../domain/content/field-types.ts';
import { diffContentType } from '../../../../domain/content/schema-diff.ts';
import type { SchemaStatement } from '../../../../domain/content/schema-statement.ts';
import type { Json } from '../../../../domain/json.ts';
import type { Queryable } from '../../../../infrastructure/postgres/database.ts';
import { jsonExpression } from '../../../../projections/content/content-types/column-sql.ts';
import { projectedStatement, renderOperation } from '../../../../projections/content/content-types/render-operation.ts';
import { schemaRenderer } from '../../../../projections/content/content-types/schema-renderer.ts';
import { createContentTypeTables } from '../../../../projections/content/content-types/tables.ts';
import { useDatabase } from '../../../support/database.ts';

const type = (
  fields: readonly FieldDefinition[],
  more: Partial<ContentTypeDefinition> = {},
): ContentTypeDefinition => ({ name: 'article', fields, ...more });
const everyField: readonly FieldDefinition[] = FIELD_TYPES.map((field_type) => ({
  id: field_type,
  name: `f_${field_type}`,
  field_type,
  indexed: field_type !== 'json',
  ...(field_type === 'relation' ? { relation_to: 'article', relation_type: 'belongs_to' } : {}),
}));
const links: FieldDefinition = {
  id: 'l',
  name: 'tags',
  field_type: 'relation',
  relation_type: 'many_to_many',
  relation_to: 'article',
};

function statementsOf(
  before: ContentTypeDefinition | undefined,
  after: ContentTypeDefinition,
): readonly SchemaStatement[] {
  let ids = 0;
  const { operations } = diffContentType({
    tenant: 'default',
    before,
    after,
    retained: [],
    pending: [],
    others: [],
  });
  return toStatements({ operations, table: after.name, newId: () => `s${(ids += 1)}` }, { renderer: schemaRenderer });
}

/** The content of the schema: columns with their types and positions, and indexes. */
async function shapeOf(db: Queryable) {
  const columns =
    await db.query(`select table_name, column_name, udt_name, is_nullable, datetime_precision from information_schema.columns
    where table_schema = 'rm_content' and table_name not in ('_content_types', '_statements') order by table_name, ordinal_position`);
  const indexes = await db.query(`select indexdef from pg_indexes where schemaname = 'rm_content' order by indexdef`);
  return { columns, indexes };
}

async function run(db: Queryable, statements: readonly { readonly sql: string }[]): Promise<void> {
  for (const { sql } of statements) await db.query(sql);
}

async function undo(db: Queryable, statements: readonly SchemaStatement[]): Promise<void> {
  for (const { down_sql: sql } of statements.toReversed()) await db.query(sql);
}

describe('statements of schema changes, run on Postgres', () => {
  const database = useDatabase();

  before(async () => {
    await database.db().transaction(async (tx) => {
      await tx.query('create schema rm_content');
      await createContentTypeTables(tx, { schema: '"rm_content"' });
    });
  });
  afterEach(async () => {
    await database.db().query(`do $$ declare t text; begin
      for t in select tablename from pg_tables where schemaname = 'rm_content' and tablename not in ('_content_types', '_statements')
      loop execute format('drop table rm_content.%I', t); end loop; end $$`);
  });

  it('creates a type with every kind of field; the undo leaves nothing', async () => {
    const before = await shapeOf(database.db());
    const statements = statementsOf(undefined, type([...everyField, links], { with_draft_publish: true }));
    await run(database.db(), statements);
    const { columns } = await shapeOf(database.db());
    expect(columns.length).to.be.greaterThan(25);
    await undo(database.db(), statements);
    expect(await shapeOf(database.db())).to.deep.equal(before);
  });

  it('adds a field of each type; the undo restores the table', async () => {
    await run(database.db(), statementsOf(undefined, type([])));
    const before = await shapeOf(database.db());
    for (const field of [...everyField, links]) {
      const statements = statementsOf(type([]), type([field]));
      await run(database.db(), statements);
      expect(await shapeOf(database.db()), field.name).not.to.deep.equal(before);
      await undo(database.db(), statements);
      expect(await shapeOf(database.db()), field.name).to.deep.equal(before);
    }
  });

  it('adds and removes an index; the undos restore the table', async () => {
    const [plain, indexed] = [
      type([{ id: 't', name: 'title', field_type: 'text' }]),
      type([{ id: 't', name: 'title', field_type: 'text', indexed: true }]),
    ];
    await run(database.db(), statementsOf(undefined, plain));
    const before = await shapeOf(database.db());
    const [on, off] = [statementsOf(plain, indexed), statementsOf(indexed, plain)];
    await run(database.db(), on);
    const between = await shapeOf(database.db());
    await run(database.db(), off);
    expect(await shapeOf(database.db())).to.deep.equal(before);
    await undo(database.db(), off);
    expect(await shapeOf(database.db())).to.deep.equal(between);
    await undo(database.db(), on);
    expect(await shapeOf(database.db())).to.deep.equal(before);
  });

  it('converts every column type to every other on an empty table, by the statement, its undo and the projector', async () => {
    const place = { schema: '"rm_content"', table: 'article' };
    for (const from of SCALAR_COLUMN_TYPES) {
      await database.db().query(`create table rm_content.article (id uuid, c ${from})`);
      for (const to of SCALAR_COLUMN_TYPES.filter((other) => other !== from)) {
        const before = await shapeOf(database.db());
        const operation = { op: 'convert_column', column: 'c', from, to } as const;
        const { sql, down_sql } = renderOperation(operation, place);
        await database.db().query(sql);
        expect(await shapeOf(database.db())).not.to.deep.equal(before);
        await database.db().query(down_sql);
        expect(await shapeOf(database.db()), `${from} to ${to}`).to.deep.equal(before);
        await database.db().query(projectedStatement(operation, place));
        await database.db().query(down_sql);
      }
      await database.db().query('drop table rm_content.article');
    }
  });

  const field = (sqlType: ScalarColumnType): FieldDefinition => ({
    id: 'c',
    name: 'c',
    field_type: FIELD_TYPES.find((known) => FIELD_TYPE_SPECS[known].columnType === sqlType)!,
  });

  /** Values of every type, and texts that are almost values. */
  const moment = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const number = fc
    .oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, 1, 1e15, 1e14, 1e-4, 1e-5, 1e21, -1e-7, 123456789012345680, 5e-324),
      fc.integer(),
    )
    .map((value) => value + 0);
  const integer = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 1, -1)).map((value) => value + 0);
  const decimal = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.bigInt({ min: 0n, max: 10n ** 25n }),
      fc.constantFrom('', '.0', '.00', '.50', '.000001'),
    )
    .map(([sign, whole, fraction]) => parseDecimal(`${sign}${whole}${fraction}`)!);
  const time = fc
    .tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.constantFrom('', '.1', '.12', '.123'))
    .map(([h, m, s, f]) => `${[h, m, s].map((part) => String(part).padStart(2, '0')).join(':')}${f}`);
  const plain = fc.oneof(
    fc.string({ unit: 'binary' }).filter((given) => !given.includes('\0') && !/\p{Surrogate}/u.test(given)),
    fc.constantFrom('', ' ', 'ÿ"\\\b'),
  );
  const scalar = fc.oneof(
    plain,
    number,
    fc.boolean(),
    moment,
    moment.map((at) => at.slice(0, 10)),
    time,
    decimal,
    fc.uuid(),
  );
  const json = fc.oneof(
    scalar,
    fc.array(fc.oneof(scalar, fc.constant(null)), { maxLength: 3 }),
    fc.dictionary(plain, fc.oneof(scalar, fc.dictionary(plain, scalar, { maxKeys: 2 })), { maxKeys: 4 }),
  );
  const spelled = fc
    .tuple(
      scalar,
      fc.constantFrom('', ' ', '  '),
      fc.constantFrom(
        (given: string) => given,
        (given: string) => given.toUpperCase(),
        (given: string) => `+${given}`,
        (given: string) => given.replace('Z', '+02:00'),
        (given: string) => given.replace('Z', '99996Z'),
        (given: string) => Array.from(given).slice(0, 16).join(''),
        (given: string) => given.replace('T', ' '),
      ),
    )
    .map(([value, space, change]) => space + change(typeof value === 'string' ? value : JSON.stringify(value)) + space);
  const valuesOf: { readonly [type in ScalarColumnType]: fc.Arbitrary<Json> } = {
    text: fc.oneof(plain, spelled),
    float8: number,
    int8: integer,
    numeric: decimal,
    boolean: fc.boolean(),
    date: moment.map((at) => at.slice(0, 10)),
    'timestamptz(3)': moment,
    'time(3)': time,
    uuid: fc.uuid(),
    jsonb: json,
  };
  for (const first of SCALAR_COLUMN_TYPES) {
    it(`converts values in events of a ${first} through type changes as it converts the column`, async () => {
      const ways = SCALAR_COLUMN_TYPES.filter((next) => next !== first).map((next) =>
        fc
          .option(fc.constantFrom(...SCALAR_COLUMN_TYPES), { freq: 1 })
          .map((last) => [first, next, ...(last === null || last === next ? [] : [last])] as const),
      );
      const parameter = (value: Json) =>
        first !== 'jsonb' && typeof value === 'string' ? value : JSON.stringify(value);
      for (const way of ways) {
        await fc.assert(
          fc.asyncProperty(way, fc.array(valuesOf[first], { minLength: 40, maxLength: 60 }), async (types, values) => {
            await database
              .db()
              .query(`drop table if exists rm_content.article; create table rm_content.article (n int, c ${first})`);
            await database
              .db()
              .query(
                `insert into rm_content.article select n, given::${first} from unnest($1::text[]) with ordinality g(given, n)`,
                [values.map(parameter)],
              );
            for (const [at, to] of types.slice(1).entries())
              await database
                .db()
                .query(
                  projectedStatement(
                    { op: 'convert_column', column: 'c', from: types[at]!, to },
                    { schema: '"rm_content"', table: 'article' },
                  ),
                );
            const last = types.at(-1)!;
            const rows = await database
              .db()
              .query<{ v: Json }>(
                `select to_json(${jsonExpression(last, '"c"')}) as v from rm_content.article order by n`,
              );
            expect(
              values.map((value) =>
                convertThrough(
                  field(last),
                  value,
                  types.map((type) => field(type).field_type),
                ),
              ),
              types.join(' → '),
            ).to.deep.equal(rows.map(({ v }) => v));
          }),
          { numRuns: 6, ...(process.env['FC_SEED'] === undefined ? {} : { seed: Number(process.env['FC_SEED']) }) },
        );
      }
    }).timeout(60_000);
  }

  const uuid = '018f2f4e-7a3b-7c1d-9e2f-3a4b5c6d7e8f';
  /** Type, SQL literal, new type, and the converted value in JSON (null: it does not convert). */
  const values: readonly [string, string, string, unknown][] = [
    ['text', `' 42 '`, 'int8', 42],
    ['text', `'4.5'`, 'int8', null],
    ['text', `'9007199254740993'`, 'int8', null],
    ['text', `'-4.50'`, 'numeric', '-4.50'],
    ['text', `'1e3'`, 'float8', 1000],
    ['text', `'NaN'`, 'float8', null],
    ['text', `'infinity'`, 'float8', null],
    ['text', `'TRUE'`, 'boolean', true],
    ['text', `'yes'`, 'boolean', null],
    ['text', `'2024-02-29'`, 'date', '2024-02-29'],
    ['text', `'2023-02-29'`, 'date', null],
    ['text', `'today'`, 'date', null],
    ['text', `'now'`, 'timestamptz(3)', null],
    ['text', `'2024-02-29T10:00:00+02:00'`, 'timestamptz(3)', '2024-02-29T08:00:00.000Z'],
    ['text', `'2024-02-29'`, 'timestamptz(3)', '2024-02-29T00:00:00.000Z'],
    ['text', `'10:30'`, 'time(3)', '10:30:00'],
    ['text', `'25:00'`, 'time(3)', null],
    ['text', `'${uuid.toUpperCase()}'`, 'uuid', uuid],
    ['text', `'x'`, 'uuid', null],
    ['text', `'{"a":1}'`, 'jsonb', '{"a":1}'],
    ['text', `'1e999'`, 'float8', null],
    ['float8', '2', 'int8', 2],
    ['float8', '2.5', 'int8', null],
    ['float8', '0.1', 'numeric', '0.1'],
    ['float8', '0.1', 'text', '0.1'],
    ['float8', '1', 'boolean', true],
    ['int8', '1', 'boolean', true],
    ['int8', '7', 'boolean', null],
    ['int8', '7', 'text', '7'],
    ['int8', '7', 'float8', 7],
    ['int8', '7', 'date', null],
    ['numeric', '2.00', 'int8', 2],
    ['numeric', '2.50', 'text', '2.50'],
    ['boolean', 'true', 'text', 'true'],
    ['boolean', 'true', 'int8', 1],
    ['boolean', 'false', 'numeric', '0'],
    ['date', `'2024-02-29'`, 'text', '2024-02-29'],
    ['date', `'2024-02-29'`, 'timestamptz(3)', '2024-02-29T00:00:00.000Z'],
    ['timestamptz(3)', `'2024-02-29T23:30:00Z'`, 'date', '2024-02-29'],
    ['timestamptz(3)', `'2024-02-29T23:30:00Z'`, 'text', '2024-02-29T23:30:00.000Z'],
    ['timestamptz(3)', `'2024-02-29T23:30:00Z'`, 'time(3)', '23:30:00'],
    ['uuid', `'${uuid}'`, 'text', uuid],
    ['jsonb', `'"a"'`, 'text', 'a'],
    ['jsonb', `'5'`, 'int8', 5],
    ['jsonb', `'[5]'`, 'int8', null],
    ['jsonb', `'{"a": 1}'`, 'text', '{"a": 1}'],
    ['numeric', '1.50', 'jsonb', '1.50'],
  ];
  for (const [from, literal, to, expected] of values) {
    it(`${from} ${literal} ${expected === null ? 'does not convert' : 'converts'} to ${to}`, async () => {
      const [a, b] = [
        SCALAR_COLUMN_TYPES.find((known) => known === from)!,
        SCALAR_COLUMN_TYPES.find((known) => known === to)!,
      ];
      await database
        .db()
        .query(`create table rm_content.article (c ${from}); insert into rm_content.article values (${literal})`);
      const [stored] = await database
        .db()
        .query<{ v: Json }>(`select to_json(${jsonExpression(a, '"c"')}) as v from rm_content.article`);
      const operation = { op: 'convert_column', column: 'c', from: a, to: b } as const;
      await database.db().query(projectedStatement(operation, { schema: '"rm_content"', table: 'article' }));
      const [row] = await database
        .db()
        .query<{ v: unknown }>(`select to_json(${jsonExpression(b, '"c"')}) as v from rm_content.article`);
      expect(row?.v, 'the column').to.deep.equal(expected);
      expect(convertValue(field(b), stored?.v ?? null, field(a).field_type), 'the value of an event').to.deep.equal(
        expected,
      );
    });
  }

  it('gives names of 63 characters distinct tables and indexes', async () => {
    const long = 'n'.repeat(63);
    const name = `a${'b'.repeat(62)}`;
    const fields: readonly FieldDefinition[] = [
      { id: '1', name: long, field_type: 'text', indexed: true },
      { id: '2', name: `${'n'.repeat(62)}m`, field_type: 'text', indexed: true },
      { ...links, name: 'l'.repeat(63) },
      { ...links, id: '3', name: `${'l'.repeat(62)}k` },
    ];
    await run(database.db(), statementsOf(undefined, { name, fields }));
    const [row] = await database
      .db()
      .query<{ indexes: number }>(
        `select count(*) as indexes from pg_indexes where schemaname = 'rm_content' and tablename = $1`,
        [name],
      );
    expect(row?.indexes).to.equal(8);
  });

  it('gives types whose concatenated names are equal distinct indexes', async () => {
    const fields = (name: string): readonly FieldDefinition[] => [{ id: '1', name, field_type: 'text', indexed: true }];
    await run(database.db(), statementsOf(undefined, { name: 'a', fields: fields('b_c') }));
    await run(database.db(), statementsOf(undefined, { name: 'a_b', fields: fields('c') }));
    const rows = await database
      .db()
      .query(`select 1 from pg_indexes where schemaname = 'rm_content' and tablename = 'a_b'`);
    expect(rows).to.have.length(5);
  });

  it('indexes the longest texts', async () => {
    await run(
      database.db(),
      statementsOf(undefined, type([{ id: 't', name: 'title', field_type: 'text', indexed: true }])),
    );
    const incompressible = Array.from({ length: 20_000 }, (_, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
    ).join('');
    await database.db().query(
      `insert into rm_content.article (id, tenant_id, _version, _status, _created_at, _updated_at, _created_by, _updated_by, _position, title)
      values (gen_random_uuid(), 'default', 1, 'published', now(), now(), '{}', '{}', '', $1)`,
      [incompressible],
    );
    expect(await database.db().query('select length(title) as length from rm_content.article')).to.deep.include({
      length: 20_000,
    });
  });
});
