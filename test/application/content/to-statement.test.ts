import { expect } from 'chai';
import { toPlacedStatements, toStatement } from '../../../application/content/to-statement.ts';
import { schemaRenderer } from '../../../projections/content/content-types/schema-renderer.ts';
import { SCHEMA_OPERATIONS } from '../../support/schema-operations.ts';

describe('the statement of a schema operation', () => {
  const column = { name: 'title', type: 'text' } as const;

  it('has the SQL of the operation and of its undo, and is marked when it is destructive', () => {
    const operation = { op: 'drop_column', column } as const;
    const statement = toStatement({ operation, table: 'article', id: 's1' }, { renderer: schemaRenderer });
    expect(statement).to.deep.equal({
      id: 's1',
      description: 'Drop column title',
      sql: 'alter table "rm_content"."article" drop column "title"',
      down_sql:
        'alter table "rm_content"."article" add column if not exists "title" text;\n-- cannot be undone: the values are deleted from the table and remain in the history',
      destructive: true,
      operation,
    });
  });

  for (const [name, { operation, loses = false }] of Object.entries(SCHEMA_OPERATIONS)) {
    it(`is ${loses ? '' : 'not '}marked as destructive for ${name}`, () => {
      const statement = toStatement({ operation, table: 'article', id: 's1' }, { renderer: schemaRenderer });
      expect(statement.destructive).to.equal(loses ? true : undefined);
    });
  }

  it('names its table unless it is that of the content type', () => {
    const operation = { op: 'add_column', column } as const;
    const operations = ['article', 'story'].map((table) => ({ table, operation }));
    const statements = toPlacedStatements(
      { operations, ownTable: 'article', newId: () => 's' },
      { renderer: schemaRenderer },
    );
    expect(statements.map(({ table }) => table)).to.deep.equal([undefined, 'story']);
    expect(statements.map(({ destructive }) => destructive)).to.deep.equal([undefined, undefined]);
  });
});
