import { parseName } from '../../domain/content/content-type-parser.ts';
import type { SchemaStatement } from '../../domain/content/definition.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { ContentTypeReader } from '../ports/schema-workbench.ts';
import { planContentType, refuseDefinition } from './plan-content-type.ts';

/**
 * Statements that saving the definition under this name would run or queue; for an unknown type those of its creation (spec 2, preview).
 * @throws `invalid_schema`, `schema_table_shared`
 */
export async function previewContentType(
  { name, input }: { readonly name: string; readonly input: unknown },
  context: CommandContext,
  reader: ContentTypeReader,
): Promise<readonly SchemaStatement[]> {
  try {
    return (await planContentType(parseName(name), input, context, reader)).difference.statements;
  } catch (error) {
    throw refuseDefinition(error, 'post');
  }
}
