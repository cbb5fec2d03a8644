import { parseName } from '../../domain/content/content-type-parser.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';
import { definitionRefusal, planContentType } from './plan-content-type.ts';

/**
 * The statements that saving the definition under this name would run or queue. For an unknown name these are the
 * statements that create the type.
 * @throws `invalid_schema`, `schema_table_shared`
 */
export async function previewContentType(
  { name, input }: { readonly name: string; readonly input: unknown },
  context: CommandContext,
  { schemaSessions, renderer }: Pick<ContentTypeDependencies, 'schemaSessions' | 'renderer'>,
): Promise<readonly SchemaStatement[]> {
  try {
    const plan = await planContentType({ name: parseName(name), input }, context, { reader: schemaSessions, renderer });
    return plan.statements;
  } catch (error) {
    throw definitionRefusal(error, 'post');
  }
}
