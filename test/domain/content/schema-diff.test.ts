import { expect } from 'chai';
import type { ContentTypeDefinition, FieldDefinition } from '../../../domain/content/definition.ts';
import { InvalidDefinition } from '../../../domain/content/invalid-definition.ts';
import { type SchemaChange, diffContentType } from '../../../domain/content/schema-diff.ts';
import { isDestructive } from '../../../domain/content/schema-operation.ts';

const field = (name: string, more: Partial<FieldDefinition> = {}): FieldDefinition => ({
  id: `id-${name}`,
  name,
  field_type: 'text',
  ...more,
});
const type = (
  fields: readonly FieldDefinition[],
  more: Partial<ContentTypeDefinition> = {},
): ContentTypeDefinition => ({ name: 'article', fields, ...more });
const title = field('title');
const link = field('tags', { field_type: 'relation', relation_type: 'many_to_many', relation_to: 'tag' });

function diff(
  before: ContentTypeDefinition | undefined,
  after: ContentTypeDefinition,
  more: Partial<SchemaChange> = {},
) {
  return diffContentType({
    tenant: 'default',
    before,
    after,
    retained: [],
    pending: [],
    others: [],
    ...more,
  });
}

describe('the difference between two definitions', () => {
  it('creates the table and the indexes of a new type', () => {
    const after = type(
      [title, field('sku', { unique: true }), field('by', { field_type: 'relation', relation_to: 'person' }), link],
      { with_draft_publish: true },
    );
    expect(diff(undefined, after).operations).to.deep.equal([
      {
        op: 'create_table',
        columns: [
          { name: 'title', type: 'text' },
          { name: 'sku', type: 'text' },
          { name: 'by_id', type: 'uuid' },
          { name: 'tags', type: 'uuid[]' },
        ],
      },
      { op: 'create_index', index: { kind: 'column', column: { name: 'sku', type: 'text' } } },
      { op: 'create_index', index: { kind: 'column', column: { name: 'by_id', type: 'uuid' } } },
      { op: 'create_index', index: { kind: 'column', column: { name: 'tags', type: 'uuid[]' } } },
      { op: 'create_index', index: { kind: 'status' } },
    ]);
  });

  it('is empty for equal definitions, and for field types with the same column type', () => {
    expect(diff(type([title]), type([title])).operations).to.deep.equal([]);
    expect(diff(type([title]), type([{ ...title, field_type: 'email' }])).operations).to.deep.equal([]);
  });

  it('adds the column of a new field', () => {
    expect(diff(type([]), type([title])).operations).to.deep.equal([
      { op: 'add_column', column: { name: 'title', type: 'text' } },
    ]);
  });

  it('drops the column of a removed field by a destructive operation, and retains the field', () => {
    const result = diff(type([title]), type([]));
    expect(result.operations).to.deep.equal([{ op: 'drop_column', column: { name: 'title', type: 'text' } }]);
    expect(result.operations.every(isDestructive)).to.equal(true);
    expect(result.retained).to.deep.equal([title]);
  });

  it('cancels a pending removal when the field is used again, without changing the column', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    const result = diff(type([]), type([title]), { retained: [title], pending });
    expect(result).to.deep.include({ operations: [], canceled: ['p'], retained: [] });
  });

  it('converts the column when a field with a pending removal is added again with another type', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    const result = diff(type([]), type([{ ...title, field_type: 'integer' }]), { retained: [title], pending });
    expect(result.operations).to.deep.equal([{ op: 'convert_column', column: 'title', from: 'text', to: 'int8' }]);
    expect(result.canceled).to.deep.equal(['p']);
  });

  it('does not cancel the pending removals of other fields', () => {
    const pending = [{ id: 'p', operation: { op: 'drop_column', column: { name: 'title', type: 'text' } } }] as const;
    expect(diff(type([]), type([field('body')]), { retained: [title], pending })).to.deep.include({
      canceled: [],
      retained: [title],
    });
  });

  it('drops and creates the index around a conversion of the column', () => {
    const indexed = { ...title, indexed: true };
    expect(diff(type([indexed]), type([{ ...indexed, field_type: 'date' }])).operations).to.deep.equal([
      { op: 'drop_index', index: { kind: 'column', column: { name: 'title', type: 'text' } } },
      { op: 'convert_column', column: 'title', from: 'text', to: 'date' },
      { op: 'create_index', index: { kind: 'column', column: { name: 'title', type: 'date' } } },
    ]);
  });

  it('creates and drops the index of an indexed field, and keeps it when the field becomes unique', () => {
    const index = { kind: 'column', column: { name: 'title', type: 'text' } };
    expect(diff(type([title]), type([{ ...title, indexed: true }])).operations).to.deep.equal([
      { op: 'create_index', index },
    ]);
    expect(diff(type([{ ...title, indexed: true }]), type([title])).operations).to.deep.equal([
      { op: 'drop_index', index },
    ]);
    expect(diff(type([{ ...title, indexed: true }]), type([{ ...title, unique: true }])).operations).to.deep.equal([]);
  });

  it('checks the stored values when a field becomes required without a default, or unique', () => {
    const checks = (after: FieldDefinition) => diff(type([title]), type([after])).checks.map(({ kind }) => kind);
    expect(checks({ ...title, required: true, unique: true })).to.deep.equal(['required', 'unique']);
    expect(checks({ ...title, required: true, default: 'x' })).to.deep.equal([]);
    expect(diff(undefined, type([{ ...title, required: true, unique: true }])).checks).to.deep.equal([]);
  });

  it('removes the effects of options that are turned off by destructive operations, and cancels these when they are turned on', () => {
    const on = type([], { with_soft_delete: true, with_draft_publish: true });
    const off = diff(on, type([]));
    expect(off.operations.map((operation) => [operation.op, isDestructive(operation)])).to.deep.equal([
      ['drop_index', false],
      ['purge_deleted', true],
      ['publish_all', true],
    ]);
    const pending = off.operations.filter(isDestructive).map((operation) => ({ id: `id-${operation.op}`, operation }));
    const back = diff(type([]), on, { pending, others: [] });
    expect(back.canceled).to.deep.equal(['id-purge_deleted', 'id-publish_all']);
  });

  describe('in a table that tenants share', () => {
    const others = [{ fields: [title, link], retained: [field('old', { field_type: 'integer' })] }];

    it('adds only the columns that do not exist', () => {
      expect(diff(undefined, type([title, field('body'), link]), { others }).operations).to.deep.equal([
        { op: 'add_column', column: { name: 'body', type: 'text' } },
      ]);
    });

    it('reports a conflict with a field that another tenant stores differently, also with a retained one', () => {
      expect(diff(undefined, type([{ ...title, field_type: 'json' }]), { others }).conflict).to.equal(
        'field "title" is text there and jsonb here',
      );
      expect(diff(undefined, type([field('old')]), { others }).conflict).to.equal(
        'field "old" is int8 there and text here',
      );
      expect(diff(undefined, type([field('tags')]), { others }).conflict).to.equal(
        'field "tags" is uuid[] there and text here',
      );
    });

    it('allows other tenants to have different options, rules and kinds of text', () => {
      expect(
        diff(undefined, type([{ ...title, field_type: 'url', required: true, unique: true }]), { others }).conflict,
      ).to.equal(undefined);
    });

    it("clears only the tenant's own values in a column that another tenant uses", () => {
      const before = type([title, link, field('own')]);
      expect(diff(before, type([]), { others }).operations).to.deep.equal([
        { op: 'clear_column', column: { name: 'title', type: 'text' }, tenant: 'default' },
        { op: 'clear_column', column: { name: 'tags', type: 'uuid[]' }, tenant: 'default' },
        { op: 'drop_column', column: { name: 'own', type: 'text' } },
      ]);
    });

    it('keeps an index that another tenant needs', () => {
      const indexed = { ...title, indexed: true };
      expect(
        diff(type([indexed]), type([title]), { others: [{ fields: [indexed], retained: [] }] }).operations,
      ).to.deep.equal([]);
    });
  });

  it('refuses to change a relation into another kind or type', () => {
    const by = field('by', { field_type: 'relation', relation_type: 'belongs_to', relation_to: 'person' });
    expect(() => diff(type([by]), type([{ ...by, field_type: 'uuid' }]))).to.throw(InvalidDefinition);
    expect(() => diff(type([by]), type([{ ...by, relation_type: 'many_to_many' }]))).to.throw(InvalidDefinition);
  });
});
