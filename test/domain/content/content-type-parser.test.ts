import { expect } from 'chai';
import fc from 'fast-check';
import { parseContentType } from '../../../domain/content/content-type-parser.ts';
import { FIELD_TYPES, type FieldDefinition } from '../../../domain/content/definition.ts';
import { InvalidDefinition } from '../../../domain/content/invalid-definition.ts';
import { presentContentType } from '../../../domain/content/present-content-type.ts';

const belongsToArticle: FieldDefinition = {
  id: 'f',
  name: 'article',
  field_type: 'relation',
  relation_to: 'article',
  relation_type: 'belongs_to',
};
const author: FieldDefinition = {
  id: 'a',
  name: 'author',
  field_type: 'relation',
  relation_to: 'article',
  relation_type: 'belongs_to',
};
const types = [
  { name: 'person', fields: [] },
  { name: 'comment', fields: [belongsToArticle] },
  { name: 'credit', fields: [belongsToArticle, author] },
];

function parse(input: unknown, known: readonly FieldDefinition[] = [], name?: string) {
  let ids = 0;
  return parseContentType(input, { name, earlierFields: known, types, newId: () => `new-${(ids += 1)}` });
}

function reasonOf(input: unknown): string {
  try {
    parse(input);
  } catch (error) {
    if (error instanceof InvalidDefinition) return error.reason;
    throw error;
  }
  return 'accepted';
}

const withField = (field: object) => ({ name: 'article', fields: [field] });
const withRule = (field_type: string, rule: string, params: object) =>
  withField({ name: 'f', field_type, validation: [{ rule, params }] });

describe('the definition of a content type', () => {
  it('is read with every option, and shown without internal members', () => {
    const definition = parse({
      name: 'article',
      fields: [{ name: 'title', field_type: 'text', required: true }],
      with_soft_delete: true,
      transports: { rest: 'r' },
    });
    expect(definition.fields).to.deep.equal([
      {
        id: 'new-1',
        name: 'title',
        field_type: 'text',
        required: true,
        unique: false,
        indexed: false,
        localized: false,
      },
    ]);
    expect(presentContentType(definition)).to.deep.equal({
      name: 'article',
      display_name: 'article',
      fields: [{ name: 'title', field_type: 'text', required: true, unique: false, indexed: false, localized: false }],
      with_created_at: false,
      with_updated_at: false,
      with_soft_delete: true,
      with_draft_publish: false,
      transports: { rest: 'r' },
    });
  });

  it('stays the same when the shown definition is sent again', () => {
    const once = parse({
      name: 'article',
      fields: [
        { name: 'n', field_type: 'integer', default: 3, validation: [{ rule: 'min', params: { value: 1 } }] },
        { name: 'comments', field_type: 'relation', relation_to: 'comment', relation_type: 'has_many' },
      ],
    });
    expect(parse(presentContentType(once), once.fields)).to.deep.equal(once);
  });

  it('keeps the ids of known fields and creates ids for new ones', () => {
    const known: readonly FieldDefinition[] = [{ id: 'kept', name: 'title', field_type: 'text' }];
    const { fields } = parse(
      {
        name: 'article',
        fields: [
          { name: 'body', field_type: 'text' },
          { name: 'title', field_type: 'rich_text' },
        ],
      },
      known,
    );
    expect(fields.map(({ id }) => id)).to.deep.equal(['new-1', 'kept']);
  });

  it('gets its name from the path rather than from the body', () => {
    expect(parse({ name: 'other' }, [], 'article').name).to.equal('article');
  });

  it('accepts every field type', () => {
    for (const field_type of FIELD_TYPES) {
      const field = { name: 'f', field_type, ...(field_type === 'relation' ? { relation_to: 'person' } : {}) };
      expect(reasonOf(withField(field)), field_type).to.equal('accepted');
    }
  });

  it('gets the other side of a has_many, and belongs_to as the default kind of relation', () => {
    const { fields } = parse({
      name: 'article',
      fields: [
        { name: 'comments', field_type: 'relation', relation_to: 'comment', relation_type: 'has_many' },
        { name: 'by', field_type: 'relation', relation_to: 'person' },
      ],
    });
    expect(fields.map((field) => [field.relation_type, field.relation_field])).to.deep.equal([
      ['has_many', 'article'],
      ['belongs_to', undefined],
    ]);
  });

  it('may relate to itself, from both sides', () => {
    const tree = {
      name: 'page',
      fields: [
        { name: 'parent', field_type: 'relation', relation_to: 'page' },
        { name: 'children', field_type: 'relation', relation_to: 'page', relation_type: 'has_many' },
      ],
    };
    expect(reasonOf(tree)).to.equal('accepted');
  });

  const rules: readonly [string, string, object][] = [
    ['text', 'enum', { values: ['a', 'b'] }],
    ['integer', 'enum', { values: [1, 2] }],
    ['number', 'min', { value: 0.5 }],
    ['decimal', 'max', { value: '9.99' }],
    ['date', 'min', { value: '2025-01-01' }],
    ['datetime', 'max', { value: '2025-01-01T00:00:00Z' }],
    ['url', 'max_length', { value: 100 }],
    ['rich_text', 'min_length', { value: 0 }],
    ['slug', 'pattern', { pattern: '^[a-z]+$' }],
  ];
  for (const [type, rule, params] of rules) {
    it(`accepts the rule ${rule} on a field of type ${type}`, () => {
      expect(reasonOf(withRule(type, rule, params))).to.equal('accepted');
    });
  }

  const refused: readonly [string, unknown, string][] = [
    ['no object', [], 'the definition must be an object'],
    ['no name', {}, 'name is required'],
    [
      'a name that starts with a digit',
      { name: '1a' },
      'name must start with a letter and hold at most 63 lower-case letters, digits or _',
    ],
    [
      'a name in upper case',
      { name: 'Article' },
      'name must start with a letter and hold at most 63 lower-case letters, digits or _',
    ],
    [
      'a name of 64 characters',
      { name: 'a'.repeat(64) },
      'name must start with a letter and hold at most 63 lower-case letters, digits or _',
    ],
    ['an unknown key', { name: 'article', field: [] }, 'unknown field "field"'],
    ['an unknown key in a field', withField({ name: 'f', field_type: 'text', kind: 'x' }), 'unknown field "kind"'],
    ['fields that are no list', { name: 'article', fields: {} }, 'fields must be a list'],
    [
      'too many fields',
      { name: 'article', fields: Array.from({ length: 501 }, () => ({})) },
      'fields must contain at most 500 items',
    ],
    ['a switch that is none', { name: 'article', with_soft_delete: 'yes' }, 'with_soft_delete must be true or false'],
    [
      'a display name with NUL',
      { name: 'article', display_name: 'a\0' },
      'display_name must not contain NUL or unpaired surrogate characters',
    ],
    ['an unknown field type', withField({ name: 'f', field_type: 'money' }), 'field "f": unknown field_type "money"'],
    ['no field type', withField({ name: 'f' }), 'field "f": field_type is required'],
    ['a field without a name', withField({ field_type: 'text' }), 'a field needs a name'],
    [
      'a field with a bad name',
      withField({ name: '_f', field_type: 'text' }),
      'field name "_f" must start with a letter and hold at most 63 lower-case letters, digits or _',
    ],
    [
      'a field that occurs twice',
      {
        name: 'article',
        fields: [
          { name: 'f', field_type: 'text' },
          { name: 'f', field_type: 'json' },
        ],
      },
      'field "f" occurs twice',
    ],
    [
      "a field that is another's column",
      {
        name: 'article',
        fields: [
          { name: 'by', field_type: 'relation', relation_to: 'person' },
          { name: 'by_id', field_type: 'text' },
        ],
      },
      'field "by_id" occurs twice',
    ],
    [
      'a column that every table has',
      withField({ name: 'tenant', field_type: 'relation', relation_to: 'person' }),
      'field "tenant": the name "tenant_id" is reserved',
    ],
    [
      'a column that PostgreSQL has',
      withField({ name: 'xmin', field_type: 'text' }),
      'field "xmin": the name "xmin" is reserved',
    ],
    [
      'a localized number',
      withField({ name: 'f', field_type: 'number', localized: true }),
      'field_type "number" cannot be localized (allowed: rich_text, text, url)',
    ],
    [
      'a localized unique field',
      withField({ name: 'f', field_type: 'text', localized: true, unique: true }),
      'field "f": a unique field cannot be localized',
    ],
    [
      'an indexed json',
      withField({ name: 'f', field_type: 'json', indexed: true }),
      'field "f": a json field cannot be unique or indexed',
    ],
    [
      'a required has_many',
      withField({
        name: 'f',
        field_type: 'relation',
        relation_to: 'comment',
        relation_type: 'has_many',
        required: true,
      }),
      'field "f": a relation of kind has_many cannot be required',
    ],
    [
      'a default of another type',
      withField({ name: 'f', field_type: 'integer', default: 'x' }),
      'field "f": default must be an integer between -2^53 and 2^53',
    ],
    [
      'a default that breaks a rule',
      withField({
        name: 'f',
        field_type: 'text',
        default: 'z',
        validation: [{ rule: 'enum', params: { values: ['a'] } }],
      }),
      'field "f": default must be one of the allowed values',
    ],
    [
      'a relation without a target',
      withField({ name: 'f', field_type: 'relation' }),
      'field "f": relation_to is required',
    ],
    [
      'a relation to nothing',
      withField({ name: 'f', field_type: 'relation', relation_to: 'ghost' }),
      'field "f": relation_to names a content type that does not exist: "ghost"',
    ],
    [
      'an unknown kind of relation',
      withField({ name: 'f', field_type: 'relation', relation_to: 'person', relation_type: 'likes' }),
      'field "f": unknown relation_type "likes"',
    ],
    [
      'a target of a text',
      withField({ name: 'f', field_type: 'text', relation_to: 'person' }),
      'field "f": relation_to, relation_type and relation_field belong to relations',
    ],
    [
      'a has_many without another side',
      withField({ name: 'f', field_type: 'relation', relation_to: 'person', relation_type: 'has_many' }),
      'field "f": "person" has no belongs_to to "article"',
    ],
    [
      'a has_many with two other sides',
      withField({ name: 'f', field_type: 'relation', relation_to: 'credit', relation_type: 'has_many' }),
      'field "f": "credit" has more than one belongs_to to "article"; name one in relation_field',
    ],
    ['an unknown rule', withRule('text', 'unique_ish', {}), 'field "f": unknown validation rule "unique_ish"'],
    [
      'a rule of the prototype',
      withRule('text', 'constructor', {}),
      'field "f": unknown validation rule "constructor"',
    ],
    ['an enum without values', withRule('text', 'enum', {}), 'field "f": enum needs params.values'],
    [
      'an enum with a value of another type',
      withRule('text', 'enum', { values: [1] }),
      'field "f": enum: params.values must be text',
    ],
    ['a min of a text', withRule('text', 'min', { value: 1 }), 'field "f": min: not for field_type "text"'],
    [
      'a length of a number',
      withRule('number', 'max_length', { value: 1 }),
      'field "f": max_length: not for field_type "number"',
    ],
    [
      'a length below 0',
      withRule('text', 'min_length', { value: -1 }),
      'field "f": min_length: params.value must be an integer from 0',
    ],
    [
      'a pattern that RE2 refuses',
      withRule('text', 'pattern', { pattern: '(?<=a)b' }),
      'field "f": pattern: params.pattern is not a valid RE2 pattern',
    ],
    [
      'a pattern that is too large with its repetitions written out',
      withRule('text', 'pattern', { pattern: '(?:a?){1000}'.repeat(5) }),
      'field "f": pattern: params.pattern must have at most 1000 characters with its repetitions written out',
    ],
    [
      'patterns that are too large together',
      {
        name: 'article',
        fields: Array.from({ length: 7 }, (_, index) => ({
          name: `f${index}`,
          field_type: 'text',
          validation: [{ rule: 'pattern', params: { pattern: '[a-z]{800}' } }],
        })),
      },
      'the patterns of all fields must have at most 5000 characters together, with repetitions written out',
    ],
    [
      'a default that is too long for its pattern',
      {
        name: 'article',
        fields: [
          {
            name: 'f',
            field_type: 'text',
            default: 'a'.repeat(16_384),
            validation: [{ rule: 'pattern', params: { pattern: '(?:a?){400}$' } }],
          },
        ],
      },
      'field "f": default must have at most 2490 characters because of its pattern',
    ],
    ['an unknown parameter', withRule('text', 'pattern', { pattern: 'a', flags: 'i' }), 'unknown field "flags"'],
    [
      'a comparison with no field',
      withRule('number', 'compare', { op: 'gt', field: 'g' }),
      'field "f": compare: params.field names no other field',
    ],
    [
      'a comparison by an unknown operator',
      withRule('number', 'compare', { op: 'near', field: 'g' }),
      'field "f": compare: params.op must be one of eq, ne, gt, gte, lt, lte',
    ],
    ['an unknown transport', { name: 'article', transports: { soap: 'rw' } }, 'unknown transport "soap"'],
    [
      'an unknown mode',
      { name: 'article', transports: { rest: 'x' } },
      'transport "rest" must be one of rw, r, w, off',
    ],
  ];
  for (const [what, input, reason] of refused) {
    it(`is refused with ${what}`, () => {
      expect(reasonOf(input)).to.equal(reason);
    });
  }

  for (const name of [
    'id',
    'data',
    'version',
    'status',
    'slug',
    'created_at',
    'updated_at',
    'published_at',
    'created_by',
    'updated_by',
  ]) {
    it(`is refused with a field named ${name}`, () => {
      expect(reasonOf(withField({ name, field_type: 'text' }))).to.equal(`field name "${name}" is reserved`);
    });
  }

  it('accepts the reserved names of the built-in presets in their types only, and keeps them after a rename', () => {
    const status = { name: 'status', field_type: 'text' };
    expect(reasonOf({ name: 'comments', fields: [status] })).to.equal('accepted');
    expect(reasonOf({ name: 'form_submissions', fields: [status, { name: 'data', field_type: 'json' }] })).to.equal(
      'accepted',
    );
    expect(reasonOf({ name: 'forms', fields: [{ name: 'slug', field_type: 'text' }] })).to.equal('accepted');
    expect(reasonOf({ name: 'forms', fields: [status] })).to.equal('field name "status" is reserved');
    const renamed = parseContentType(
      { name: 'feedback', fields: [status] },
      { earlierFields: [{ id: 'f1', name: 'status', field_type: 'text' }], types: [], newId: () => 'f2' },
    );
    expect(renamed.fields.map(({ id }) => id)).to.deep.equal(['f1']);
  });

  it('refuses a comparison of fields with different types', () => {
    const fields = [
      { name: 'a', field_type: 'number', validation: [{ rule: 'compare', params: { op: 'lt', field: 'b' } }] },
      { name: 'b', field_type: 'text' },
    ];
    expect(reasonOf({ name: 'article', fields })).to.equal('field "a": compare: "b" is of another type');
  });

  it('is accepted, or refused with a reason, for any input', () => {
    const word = fc.constantFrom(
      'name',
      'fields',
      'field_type',
      'text',
      'relation',
      'validation',
      'rule',
      'params',
      '__proto__',
      'transports',
      'article',
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 5 },
        word,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(word, tie('any'), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(fc.property(value, (input) => typeof reasonOf(input) === 'string'));
  });
});
