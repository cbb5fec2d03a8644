import type { SchemaOperation } from './schema-operation.ts';

/** One statement of a schema change, rendered for the live read model. */
export type SchemaStatement = {
  readonly id: string;
  readonly description: string;
  readonly sql: string;
  readonly down_sql: string;
  readonly destructive?: boolean;
  /** The table that it changes, when it is not the content type's own: renames and adoptions. */
  readonly table?: string;
  /** The change as data. Projectors render it for the schema that they fill. */
  readonly operation: SchemaOperation;
};
