import type { SchemaOperation } from '../../domain/content/schema-operation.ts';

/** A schema operation as the API shows it and the database runs it. */
export type RenderedOperation = {
  readonly description: string;
  /** One or more SQL statements, separated by `;` and a line break. */
  readonly sql: string;
  /** SQL that undoes `sql` as far as possible. */
  readonly down_sql: string;
};

/** Renders schema operations, which the domain describes as data, to statements of the database. */
export type SchemaRenderer = {
  /**
   * Renders an operation for the live read model.
   * @param table Name of the table; see `tableNameOf`.
   */
  render(operation: SchemaOperation, table: string): RenderedOperation;
};
