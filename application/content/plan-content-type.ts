import type { StoredContentType } from '../../domain/content/content-type.ts';
import { parseContentType } from '../../domain/content/content-type-parser.ts';
import type { ContentTypeDefinition, SchemaStatement } from '../../domain/content/definition.ts';
import { InvalidDefinition } from '../../domain/content/invalid-definition.ts';
import { moveOperations } from '../../domain/content/move-operations.ts';
import { diffContentType, findConflict, toStatement } from '../../domain/content/schema-diff.ts';
import type { SchemaDifference } from '../../domain/content/schema-diff.ts';
import { keptTableName } from '../../domain/content/table-names.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';
import type { ContentTypeReader } from '../ports/schema-workbench.ts';
import { otherUses, sharedDifferently } from './other-uses.ts';

/** What saving a definition would come to. */
export type ContentTypePlan = {
  readonly definition: ContentTypeDefinition;
  /** The type in force of that name, or the deleted one that comes back. */
  readonly stored: StoredContentType | undefined;
  readonly difference: SchemaDifference;
};

export type PlanOptions = {
  /** A type of that name that was deleted with its entries kept comes back, where none is in force. */
  readonly adopt?: boolean;
};

/**
 * Reads a definition and compares it with what is stored, on the table that tenants share.
 * @throws InvalidDefinition; `schema_table_shared`
 */
export async function planContentType(name: string, input: unknown, context: CommandContext, reader: ContentTypeReader, { adopt = false }: PlanOptions = {}): Promise<ContentTypePlan> {
  const { tenant, newId } = context;
  const [named, types] = [await reader.named(name), await reader.ofTenant(tenant)];
  const own = named.filter((type) => type.tenant === tenant);
  const stored = own.find(({ deleted }) => !deleted) ?? (adopt ? own.findLast(({ deleted }) => deleted) : undefined);
  const known = [...(stored?.definition.fields ?? []), ...(stored?.retained ?? [])];
  const definition = parseContentType(input, { name, known, newId, types: types.map((type) => ({ name: type.name, fields: type.definition.fields })) });
  const others = otherUses(named, tenant);
  const returning = stored?.deleted === true;
  const difference = diffContentType({
    tenant,
    before: stored?.definition,
    retained: stored?.retained ?? [],
    pending: stored?.pending ?? [],
    after: definition,
    // A type that comes back is changed in the table where its entries were kept, which nobody shares.
    others: returning ? [] : others,
    newId,
  });
  const foreign = others.flatMap(({ fields, retained }) => [...fields, ...retained]);
  const conflict = returning ? findConflict([...definition.fields, ...difference.retained], foreign) : difference.conflict;
  if (conflict !== undefined) throw sharedDifferently(conflict);
  return { definition, stored, difference: returning ? { ...difference, statements: statementsOfReturn() } : difference };

  function statementsOfReturn(): readonly SchemaStatement[] {
    const from = keptTableName(stored?.id ?? '');
    const changes = difference.statements.map((statement) => (statement.destructive === true ? statement : { ...toStatement(statement.operation, from, statement.id), table: from }));
    const use = { fields: definition.fields, retained: difference.retained, with_draft_publish: definition.with_draft_publish };
    const moves = moveOperations({ from, to: name, tenant, own: use, othersThere: { from: [], to: others } });
    const restored = stored?.deletedAt === undefined ? [] : [{ ...toStatement({ op: 'restore_rows', at: stored.deletedAt }, from, newId()), table: from }];
    return [...restored, ...changes, ...moves.map(({ table, operation }) => ({ ...toStatement(operation, table, newId()), ...(table === name ? {} : { table }) }))];
  }
}

/** How a refused definition answers (spec 4 B): `POST` and previews 422 with a prefix, `PUT` 400; transports 422 everywhere. */
export function refuseDefinition(error: unknown, verb: 'post' | 'put'): AppError {
  if (!(error instanceof InvalidDefinition)) throw error;
  if (verb === 'put' && error.kind !== 'transport') return refusal('schema_refused', { message: error.reason });
  return refusal('invalid_schema', { message: `invalid schema: ${error.reason}` });
}
