import { expect } from 'chai';
import type { ContentTypeDefinition, FieldDefinition } from '../../../domain/content/definition.ts';
import { InvalidDefinition } from '../../../domain/content/invalid-definition.ts';
import { diffContentType } from '../../../domain/content/schema-diff.ts';
import type { SchemaChange } from '../../../domain/content/schema-diff.ts';

const field = (name: string, more: Partial<FieldDefinition> = {}): FieldDefinition => ({ id: `id-${name}`, name, field_type: 'text', ...more });
const type = (fields: readonly FieldDefinition[], more: Partial<ContentTypeDefinition> = {}): ContentTypeDefinition => ({ name: 'article', fields, ...more });
const title = field('title');
const link = field('tags', { field_type: 'relation', relation_type: 'many_to_many', relation_to: 'tag' });

function diff(before: ContentTypeDefinition | undefined, after: ContentTypeDefinition, more: Partial<SchemaChange> = {}) {
  let ids = 0;
  return diffContentType({ tenant: 'default', before, after, retained: [], pending: [], others: [], newId: () => `s${(ids += 1)}`, ...more });
}

const operations = (result: ReturnType<typeof diff>) => result.statements.map(({ operation }) => operation);

describe('the difference of two definitions', () => {
  it('of nothing and a type is its table and indexes', () => {
    const after = type([title, field('sku', { unique: true }), field('by', { field_type: 'relation', relation_to: 'person' }), link], { with_draft_publish: true });
    expect(operations(diff(undefined, after))).to.deep.equal([
      { op: 'create_table', columns: [{ name: 'title', type: 'text' }, { name: 'sku', type: 'text' }, { name: 'by_id', type: 'uuid' }, { name: 'tags', type: 'uuid[]' }] },
      { op: 'create_index', index: { kind: 'column', column: { name: 'sku', type: 'text' } } },
      { op: 'create_index', index: { kind: 'column', column: { name: 'by_id', type: 'uuid' } } },
      { op: 'create_index', index: { kind: 'column', column: { name: 'tags', type: 'uuid[]' } } },
      { op: 'create_index', index: { kind: 'status' } },
    ]);
  });

  it('is nothing between equals, and between types that are stored alike', () => {
    expect(diff(type([title]), type([title])).statements).to.deep.equal([]);
    expect(diff(type([title]), type([{ ...title, field_type: 'email' }])).statements).to.deep.equal([]);
  });

  it('adds a field at once', () => {
    expect(operations(diff(type([]), type([title])))).to.deep.equal([{ op: 'add_column', column: { name: 'title', type: 'text' } }]);
  });

  it('queues a removal and keeps the field as one that still has its values', () => {
    const result = diff(type([title]), type([]));
    expect(result.statements).to.deep.equal([
      { id: 's1', description: 'Drop column title', sql: 'alter table "rm_content"."article" drop column "title"',
        down_sql: 'alter table "rm_content"."article" add column if not exists "title" text;\n-- no undo: the values are gone from the table; they stay in the history',
        destructive: true, operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } },
    ]);
    expect(result.retained).to.deep.equal([title]);
  });

  it('takes a queued removal back when the field is used again, without touching the column', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    const result = diff(type([]), type([title]), { retained: [title], pending });
    expect(result).to.deep.include({ statements: [], canceled: ['p'], retained: [] });
  });

  it('converts the column of a queued removal that comes back as another type', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    const result = diff(type([]), type([{ ...title, field_type: 'integer' }]), { retained: [title], pending });
    expect(operations(result)).to.deep.equal([{ op: 'convert_column', column: 'title', from: 'text', to: 'int8' }]);
    expect(result.canceled).to.deep.equal(['p']);
  });

  it('leaves other queued removals queued', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    expect(diff(type([]), type([field('body')]), { retained: [title], pending })).to.deep.include({ canceled: [], retained: [title] });
  });

  it('rebuilds the index around a conversion', () => {
    const indexed = { ...title, indexed: true };
    expect(operations(diff(type([indexed]), type([{ ...indexed, field_type: 'date' }])))).to.deep.equal([
      { op: 'drop_index', index: { kind: 'column', column: { name: 'title', type: 'text' } } },
      { op: 'convert_column', column: 'title', from: 'text', to: 'date' },
      { op: 'create_index', index: { kind: 'column', column: { name: 'title', type: 'date' } } },
    ]);
  });

  it('turns indexed on and off at once; unique has the same index', () => {
    const index = { kind: 'column', column: { name: 'title', type: 'text' } };
    expect(operations(diff(type([title]), type([{ ...title, indexed: true }])))).to.deep.equal([{ op: 'create_index', index }]);
    expect(operations(diff(type([{ ...title, indexed: true }]), type([title])))).to.deep.equal([{ op: 'drop_index', index }]);
    expect(operations(diff(type([{ ...title, indexed: true }]), type([{ ...title, unique: true }])))).to.deep.equal([]);
  });

  it('asks stored values when required or unique is turned on, unless a default stands in', () => {
    const checks = (after: FieldDefinition) => diff(type([title]), type([after])).checks.map(({ kind }) => kind);
    expect(checks({ ...title, required: true, unique: true })).to.deep.equal(['required', 'unique']);
    expect(checks({ ...title, required: true, default: 'x' })).to.deep.equal([]);
    expect(diff(undefined, type([{ ...title, required: true, unique: true }])).checks).to.deep.equal([]);
  });

  it('queues what turning soft delete and draft and publish off takes away, and cancels it when they come back', () => {
    const on = type([], { with_soft_delete: true, with_draft_publish: true });
    const off = diff(on, type([]));
    expect(off.statements.map(({ operation, destructive }) => [operation.op, destructive])).to.deep.equal([['drop_index', undefined], ['purge_deleted', true], ['publish_all', true]]);
    const queued = off.statements.filter(({ destructive }) => destructive);
    const back = diff(type([]), on, { pending: queued, others: [] });
    expect(back.canceled).to.deep.equal(queued.map(({ id }) => id));
  });

  describe('on a table that tenants share', () => {
    const others = [{ fields: [title, link], retained: [field('old', { field_type: 'integer' })] }];

    it('creates no table, and only the columns that are not there', () => {
      expect(operations(diff(undefined, type([title, field('body'), link]), { others }))).to.deep.equal([{ op: 'add_column', column: { name: 'body', type: 'text' } }]);
    });

    it('is refused where a field is stored differently there, even one whose removal is queued', () => {
      expect(diff(undefined, type([{ ...title, field_type: 'json' }]), { others }).conflict).to.equal('field "title" is text there and jsonb here');
      expect(diff(undefined, type([field('old')]), { others }).conflict).to.equal('field "old" is int8 there and text here');
      expect(diff(undefined, type([field('tags')]), { others }).conflict).to.equal('field "tags" is uuid[] there and text here');
    });

    it('lets required, unique, rules and kinds of text differ', () => {
      expect(diff(undefined, type([{ ...title, field_type: 'url', required: true, unique: true }]), { others }).conflict).to.equal(undefined);
    });

    it('clears only the own values of a column that another uses', () => {
      const before = type([title, link, field('own')]);
      expect(operations(diff(before, type([]), { others }))).to.deep.equal([
        { op: 'clear_column', column: { name: 'title', type: 'text' }, tenant: 'default' },
        { op: 'clear_column', column: { name: 'tags', type: 'uuid[]' }, tenant: 'default' },
        { op: 'drop_column', column: { name: 'own', type: 'text' } },
      ]);
    });

    it('keeps an index that another wants', () => {
      const indexed = { ...title, indexed: true };
      expect(diff(type([indexed]), type([title]), { others: [{ fields: [indexed], retained: [] }] }).statements).to.deep.equal([]);
    });
  });

  it('refuses to turn a relation into something else', () => {
    const by = field('by', { field_type: 'relation', relation_type: 'belongs_to', relation_to: 'person' });
    expect(() => diff(type([by]), type([{ ...by, field_type: 'uuid' }]))).to.throw(InvalidDefinition);
    expect(() => diff(type([by]), type([{ ...by, relation_type: 'many_to_many' }]))).to.throw(InvalidDefinition);
  });
});
