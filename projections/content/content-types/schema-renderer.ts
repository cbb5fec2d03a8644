import type { SchemaRenderer } from '../../../application/ports/schema-renderer.ts';
import { renderOperation } from './render-operation.ts';
import { LIVE } from './rows.ts';

/** Renders schema operations as SQL for the live schema `rm_content`. */
export const schemaRenderer: SchemaRenderer = {
  render: (operation, table) => renderOperation(operation, { schema: LIVE, table }),
};
