import type { StoredContentType } from '../../domain/content/content-type.ts';
import { parseContentType } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { InvalidDefinition } from '../../domain/content/invalid-definition.ts';
import { diffContentType } from '../../domain/content/schema-diff.ts';
import type { SchemaDifference } from '../../domain/content/schema-diff.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';
import type { ContentTypeReader } from '../ports/schema-workbench.ts';

/** What saving a definition would come to. */
export type ContentTypePlan = {
  readonly definition: ContentTypeDefinition;
  /** The type in force of that name. */
  readonly stored: StoredContentType | undefined;
  readonly difference: SchemaDifference;
};

/**
 * Reads a definition and compares it with what is stored, on the table that tenants share.
 * @throws InvalidDefinition; `schema_table_shared`
 */
export async function planContentType(name: string, input: unknown, context: CommandContext, reader: ContentTypeReader): Promise<ContentTypePlan> {
  const { tenant, newId } = context;
  const [named, types] = [await reader.named(name), await reader.ofTenant(tenant)];
  const stored = named.find((type) => type.tenant === tenant && !type.deleted);
  const known = [...(stored?.definition.fields ?? []), ...(stored?.retained ?? [])];
  const definition = parseContentType(input, { name, known, newId, types: types.map((type) => ({ name: type.name, fields: type.definition.fields })) });
  const difference = diffContentType({
    tenant,
    before: stored?.definition,
    retained: stored?.retained ?? [],
    pending: stored?.pending ?? [],
    after: definition,
    others: named.filter((type) => type !== stored).map(({ definition: other, retained }) => ({ fields: other.fields, retained, with_draft_publish: other.with_draft_publish })),
    newId,
  });
  if (difference.conflict !== undefined) {
    throw refusal('schema_table_shared', { message: `another schema shares this table and defines it differently: ${difference.conflict}` });
  }
  return { definition, stored, difference };
}

/** How a refused definition answers (spec 4 B): `POST` and previews 422 with a prefix, `PUT` 400; transports 422 everywhere. */
export function refuseDefinition(error: unknown, verb: 'post' | 'put'): AppError {
  if (!(error instanceof InvalidDefinition)) throw error;
  if (verb === 'put' && error.kind !== 'transport') return refusal('schema_refused', { message: error.reason });
  return refusal('invalid_schema', { message: `invalid schema: ${error.reason}` });
}
