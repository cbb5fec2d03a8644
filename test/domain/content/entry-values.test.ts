import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalDecimal, compareDecimals, parseDecimal } from '../../../domain/content/decimal.ts';
import {
  FIELD_TYPES,
  type FieldDefinition,
  type FieldType,
  type ValidationRule,
} from '../../../domain/content/definition.ts';
import { readValue } from '../../../domain/content/entry-value.ts';
import { checkChangedValues, checkNewValues } from '../../../domain/content/entry-values.ts';
import type { Json } from '../../../domain/json.ts';
import { testType } from '../../support/content.ts';

const ID = '0190B3A8-0000-7000-8000-00000000000A';
const field = (field_type: FieldType): FieldDefinition => ({ id: 'f', name: 'f', field_type });

/** Accepted values and their stored forms. */
const ACCEPTED: Readonly<Record<FieldType, readonly (readonly [given: Json, stored: Json])[]>> = {
  text: [
    ['', ''],
    ['a', 'a'],
    ['😀', '😀'],
  ],
  rich_text: [['<p>x</p>', '<p>x</p>']],
  url: [
    ['https://a.example/x?y#z', 'https://a.example/x?y#z'],
    ['http://[::1]:80/', 'http://[::1]:80/'],
    ['', null],
  ],
  email: [['a.b+c@example.co', 'a.b+c@example.co']],
  slug: [['a-b_1', 'a-b_1']],
  number: [
    [1.5, 1.5],
    [-0, -0],
    [1e300, 1e300],
  ],
  integer: [
    [9007199254740991, 9007199254740991],
    [-1, -1],
  ],
  decimal: [
    ['1.50', '1.50'],
    ['-0.0', '0.0'],
    ['007', '7'],
    [2.5, '2.5'],
    ['123456789012345678901234567890.1', '123456789012345678901234567890.1'],
  ],
  boolean: [
    [true, true],
    [false, false],
  ],
  date: [['2024-02-29', '2024-02-29']],
  datetime: [
    ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000Z'],
    ['2024-01-01T02:00:00.1239+02:00', '2024-01-01T00:00:00.123Z'],
  ],
  time: [
    ['10:30', '10:30:00'],
    ['23:59:59.120', '23:59:59.12'],
  ],
  uuid: [[ID, ID.toLowerCase()]],
  json: [
    [{ a: [1, null, 'x'] }, { a: [1, null, 'x'] }],
    ['', ''],
    [false, false],
  ],
  media: [[ID, ID.toLowerCase()]],
  relation: [[ID, ID.toLowerCase()]],
};

const nested = (depth: number): Json => (depth === 0 ? 1 : [nested(depth - 1)]);
const REFUSED: Readonly<Record<FieldType, readonly Json[]>> = {
  text: [1, {}, [], true, 'a\u0000b', '\ud800'],
  rich_text: [1],
  url: ['x', 'javascript:alert(1)', 'ftp://a/', 'https://', 'https://a b', 1],
  email: ['a', 'a@', '@b.co', 'a b@c.de', 'a@b', 1],
  slug: ['A', '-a', 'a--b', 'a b', 'x'.repeat(201)],
  number: ['1', true, Infinity],
  integer: [1.5, '1', 9007199254740992],
  decimal: ['1e5', '.5', '1.', '+1', 'x', 1e21],
  boolean: ['true', 1],
  date: ['2023-02-29', '2024-1-1', '0000-01-01', '2024-01-01T00:00:00Z', 20240101],
  datetime: [
    '2024-01-01',
    '2024-01-01T24:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-01T00:00:00',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
  ],
  time: ['24:00', '10', '10:60'],
  uuid: ['x', 1, '0190b3a8'],
  json: [nested(65), { a: '\u0000' }, { '\u0000': 1 }, [Infinity]],
  media: ['x'],
  relation: ['x', {}],
};

describe('a field value', () => {
  for (const type of FIELD_TYPES) {
    it(`of type ${type} is converted to its stored form, which converts to itself`, () => {
      for (const [given, stored] of ACCEPTED[type]) {
        expect(readValue(field(type), given), JSON.stringify(given)).to.deep.equal({ ok: true, value: stored });
        expect(readValue(field(type), stored)).to.deep.equal({ ok: true, value: stored });
      }
      expect(readValue(field(type), null)).to.deep.equal({ ok: true, value: null });
    });

    it(`of type ${type} is refused when it is invalid`, () => {
      for (const given of REFUSED[type])
        expect(readValue(field(type), given), JSON.stringify(given)).to.include({ ok: false });
    });
  }

  it('is compared exactly when it is a decimal', () => {
    const decimal = fc.tuple(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.integer({ min: 0, max: 8 }));
    const write = ([digits, scale]: [bigint, number]): string => {
      const sign = digits < 0n ? '-' : '';
      const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
      return (
        parseDecimal(scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`) ??
        'no decimal'
      );
    };
    const scaled = ([digits, scale]: [bigint, number]): bigint => digits * 10n ** BigInt(8 - scale);
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const [x, y] = [scaled(a), scaled(b)];
        expect(Math.sign(compareDecimals(write(a), write(b)))).to.equal(x < y ? -1 : x > y ? 1 : 0);
        expect(canonicalDecimal(write(a)) === canonicalDecimal(write(b))).to.equal(x === y);
      }),
    );
  });
});

const rule = (name: string, params: ValidationRule['params']): ValidationRule => ({ rule: name, params });

describe('the values of an entry', () => {
  const type = testType({
    name: 'event',
    fields: [
      { name: 'kind', field_type: 'text', validation: [rule('enum', { values: ['talk', 'party'] })] },
      {
        name: 'title',
        field_type: 'text',
        required: true,
        validation: [
          rule('min_length', { value: 2 }),
          rule('max_length', { value: 4 }),
          rule('pattern', { pattern: '^[A-Z😀]' }),
        ],
      },
      {
        name: 'price',
        field_type: 'decimal',
        validation: [rule('min', { value: '0.10' }), rule('max', { value: 10 })],
      },
      { name: 'begins', field_type: 'datetime' },
      { name: 'ends', field_type: 'datetime', validation: [rule('compare', { op: 'gt', field: 'begins' })] },
      { name: 'seats', field_type: 'integer', default: 10, required: true },
      { name: 'host', field_type: 'relation', relation_type: 'belongs_to', relation_to: 'person' },
      { name: 'guests', field_type: 'relation', relation_type: 'many_to_many', relation_to: 'person' },
      {
        name: 'hosted',
        field_type: 'relation',
        relation_type: 'has_many',
        relation_to: 'person',
        relation_field: 'event',
      },
    ],
  }).definition;
  const messages = (data: Record<string, Json>) =>
    checkNewValues(type, { title: 'Abc', ...data }).problems.map(({ field: name, message }) => `${name}: ${message}`);

  it('are accepted when they satisfy every rule', () => {
    expect(
      messages({
        kind: 'talk',
        title: '😀😀😀😀',
        price: '0.1',
        begins: '2024-01-01T00:00:00Z',
        ends: '2024-01-01T01:00:00Z',
      }),
    ).to.deep.equal([]);
  });

  it('are refused with a reason for every invalid field', () => {
    expect(
      messages({
        kind: 'x',
        title: 'A',
        price: '10.01',
        begins: '2024-01-01T00:00:00Z',
        ends: 'x',
        nope: 1,
        guests: ['x'],
        hosted: [],
      }),
    ).to.deep.equal([
      'title: must have at least 2 characters',
      'kind: must be one of the allowed values',
      'price: must be at most 10',
      'ends: must be an RFC 3339 date and time',
      'nope: unknown field',
      'guests: must be a list of ids of entries',
      'hosted: is written on the other side',
    ]);
    expect(messages({ title: 'abc' })).to.deep.equal(['title: does not match the pattern']);
    expect(messages({ title: 'Abcde' })).to.deep.equal(['title: must have at most 4 characters']);
    expect(messages({ price: '0.09' })).to.deep.equal(['price: must be at least 0.10']);
  });

  it('must not be null or empty for a required field, with or without a default', () => {
    for (const title of [null, '']) expect(messages({ title })).to.deep.equal(['title: is required']);
    expect(messages({ seats: null })).to.deep.equal(['seats: is required']);
    expect(checkNewValues(type, { title: 'Abc' }).values).to.deep.equal({ title: 'Abc', seats: 10 });
    expect(checkChangedValues(type, { title: 'Abc' }, { title: '' }).problems).to.deep.equal([
      { field: 'title', message: 'is required' },
    ]);
  });

  it('may use the name of a belongs_to instead of its key, but not with two different targets', () => {
    expect(checkNewValues(type, { title: 'Abc', host: ID }).values).to.include({ host_id: ID.toLowerCase() });
    expect(messages({ host: ID, host_id: ID })).to.deep.equal([]);
    expect(messages({ host: ID, host_id: ID.replace('A', 'B') })).to.deep.equal(['host_id: is given twice']);
  });

  it('contain links as a list of distinct ids in lower case; null becomes the empty list', () => {
    const links: FieldDefinition = {
      id: 'f',
      name: 'f',
      field_type: 'relation',
      relation_type: 'many_to_many',
      relation_to: 'person',
    };
    const other = ID.replace('A', 'B');
    expect(readValue(links, [other, ID, other.toLowerCase()])).to.deep.equal({
      ok: true,
      value: [other.toLowerCase(), ID.toLowerCase()],
    });
    for (const none of [null, []]) expect(readValue(links, none)).to.deep.equal({ ok: true, value: [] });
    for (const wrong of ['', ID, {}, [null], [[ID]], ['x'], 1])
      expect(readValue(links, wrong), JSON.stringify(wrong)).to.deep.equal({
        ok: false,
        message: 'must be a list of ids of entries',
      });
    fc.assert(
      fc.property(fc.array(fc.uuid()), (ids) => {
        const read = readValue(links, ids);
        expect(read.ok && readValue(links, read.value)).to.deep.equal(read);
      }),
    );
  });

  it('are checked against rules between two fields, on the stored values with the update applied, when the update names one of the fields', () => {
    const stored = { title: 'Abc', begins: '2024-01-02T00:00:00.000Z', ends: '2024-01-03T00:00:00.000Z' };
    expect(checkChangedValues(type, stored, { begins: '2024-01-04T00:00:00Z' }).problems).to.deep.equal([
      { field: 'ends', message: 'must be greater than begins' },
    ]);
    expect(
      checkChangedValues(type, stored, { begins: '2024-01-04T00:00:00Z', ends: '2024-01-05T00:00:00Z' }).problems,
    ).to.deep.equal([]);
    expect(
      checkChangedValues(type, { ...stored, begins: '2025-01-01T00:00:00.000Z' }, { title: 'Abd' }).problems,
    ).to.deep.equal([]);
    expect(checkChangedValues(type, stored, { begins: null }).problems).to.deep.equal([]);
  });

  it('are refused for names of object prototype members', () => {
    const data = JSON.parse('{"title": "Abc", "__proto__": 1, "constructor": 2, "toString": 3}') as Record<
      string,
      Json
    >;
    expect(checkNewValues(type, data).problems.map(({ message }) => message)).to.deep.equal([
      'unknown field',
      'unknown field',
      'unknown field',
    ]);
  });
});
