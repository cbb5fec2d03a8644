import {
  type ExceededQuota,
  MAX_COLUMNS,
  MAX_SHARED_COLUMNS,
  SMALL_TYPE,
  exceededQuota,
  exceedsShare,
} from '../../domain/content/column-quota.ts';
import { parseContentType } from '../../domain/content/content-type-parser.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { ContentTypeDefinition } from '../../domain/content/definition.ts';
import { InvalidDefinition } from '../../domain/content/invalid-definition.ts';
import { moveOperations } from '../../domain/content/move-operations.ts';
import { type SchemaDifference, type TableUse, diffContentType } from '../../domain/content/schema-diff.ts';
import { isDestructive } from '../../domain/content/schema-operation.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import { keptTableName } from '../../domain/content/table-name.ts';
import { tableUseOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type AppError, refusal } from '../../domain/errors.ts';
import type { SchemaRenderer } from '../ports/schema-renderer.ts';
import type { ContentTypeReader } from '../ports/schema-sessions.ts';
import { otherTableUses, requireShareable, sharedTableRefusal } from './shared-table.ts';
import { toPlacedStatements, toStatement, toStatements } from './to-statement.ts';

/** What saving a definition would do. */
export type ContentTypePlan = {
  readonly definition: ContentTypeDefinition;
  /** The live type with the name, or the deleted one that is adopted. */
  readonly stored: StoredContentType | undefined;
  readonly difference: SchemaDifference;
  /** In the order in which they run; the destructive ones are queued. */
  readonly statements: readonly SchemaStatement[];
};

export type PlanContentTypeInput = {
  readonly name: string;
  /** The definition as the client sent it. */
  readonly input: unknown;
  /**
   * Restores a type with the name that was deleted with its entries kept, unless a live one exists. Default: false.
   */
  readonly adopt?: boolean;
};

export type PlanContentTypeDependencies = { readonly reader: ContentTypeReader; readonly renderer: SchemaRenderer };

/**
 * Reads a definition and compares it with the stored one and with the other types in the same table.
 * @throws InvalidDefinition; `invalid_schema` for more columns than the quota; `schema_table_shared`
 */
export async function planContentType(
  { name, input, adopt = false }: PlanContentTypeInput,
  context: CommandContext,
  { reader, renderer }: PlanContentTypeDependencies,
): Promise<ContentTypePlan> {
  const { tenant, newId } = context;
  const [current, types] = [await reader.named(name), await reader.ofTenant(tenant)];
  const own = current.filter((type) => type.tenant === tenant);
  const stored = own.find(({ deleted }) => !deleted) ?? (adopt ? own.findLast(({ deleted }) => deleted) : undefined);
  const definition = parseContentType(input, {
    name,
    earlierFields: [...(stored?.definition.fields ?? []), ...(stored?.retained ?? [])],
    newId,
    types: types.map((type) => ({ name: type.name, fields: type.definition.fields })),
  });
  const others = otherTableUses(current, tenant);
  const isAdopted = stored?.deleted === true;
  const difference = diffContentType({
    tenant,
    before: stored?.definition,
    retained: stored?.retained ?? [],
    pending: stored?.pending ?? [],
    after: definition,
    // An adopted type is changed in the table where its entries were kept, which no other type shares.
    others: isAdopted ? [] : others,
  });
  const uses = {
    before: stored && tableUseOf(stored),
    after: tableUseOf({ definition, retained: difference.retained }),
  };
  const exceeded = exceededQuota(uses.before, uses.after);
  if (exceeded) throw columnQuotaRefusal(name, exceeded);
  // A deleted type has no columns in the shared table.
  if (exceedsShare(isAdopted ? { ...uses, before: undefined } : uses, others)) throw columnShareRefusal(name);
  const statements = toStatements({ operations: difference.operations, table: name, newId }, { renderer });
  if (isAdopted) {
    requireShareable([...definition.fields, ...difference.retained], others);
    const adoption = { stored, definition, retained: difference.retained, statements, others };
    return { definition, stored, difference, statements: statementsOfAdoption(adoption, context, { renderer }) };
  }
  if (difference.conflict !== undefined) throw sharedTableRefusal(difference.conflict);
  return { definition, stored, difference, statements };
}

function columnQuotaRefusal(name: string, { current, removed }: ExceededQuota): AppError {
  const needed =
    `"${name}" would need ${String(current + removed)} columns: ${String(current)} for its fields ` +
    `and ${String(removed)} for removed fields whose removal is pending`;
  return refusal('invalid_schema', {
    message:
      `invalid schema: a content type can have at most ${String(MAX_COLUMNS)} columns, and ${needed}; ` +
      'apply the pending statements, or remove fewer fields',
  });
}

function columnShareRefusal(name: string): AppError {
  return refusal('invalid_schema', {
    message:
      `invalid schema: the tenants' content types "${name}" would need more than ${String(MAX_SHARED_COLUMNS)} ` +
      `columns together; use another name, or at most ${String(SMALL_TYPE)} columns, ` +
      'removed fields whose removal is pending included',
  });
}

/** Restores the kept entries, changes the table in which they were kept, then moves them to the table of the name. */
function statementsOfAdoption(
  {
    stored,
    definition,
    retained,
    statements,
    others,
  }: Pick<SchemaDifference, 'retained'> &
    Pick<ContentTypePlan, 'definition' | 'statements'> & {
      readonly stored: StoredContentType;
      readonly others: readonly TableUse[];
    },
  { tenant, newId }: CommandContext,
  dependencies: Pick<PlanContentTypeDependencies, 'renderer'>,
): readonly SchemaStatement[] {
  const from = keptTableName(stored.id);
  const changes = statements.map((statement) =>
    isDestructive(statement.operation)
      ? statement
      : {
          ...toStatement({ operation: statement.operation, table: from, id: statement.id }, dependencies),
          table: from,
        },
  );
  const moves = moveOperations({
    from,
    to: definition.name,
    tenant,
    own: tableUseOf({ definition, retained }),
    others: { from: [], to: others },
  });
  const restore =
    stored.deletedAt === undefined
      ? []
      : [{ table: from, operation: { op: 'restore_rows', at: stored.deletedAt } } as const];
  const place = { ownTable: definition.name, newId };
  return [
    ...toPlacedStatements({ operations: restore, ...place }, dependencies),
    ...changes,
    ...toPlacedStatements({ operations: moves, ...place }, dependencies),
  ];
}

/**
 * The refusal of an invalid definition: 422 with a prefix for `POST` and previews, 400 for `PUT`. Invalid transports
 * answer 422 on every route.
 * @throws the error when it is not an InvalidDefinition
 */
export function definitionRefusal(error: unknown, verb: 'post' | 'put'): AppError {
  if (!(error instanceof InvalidDefinition)) throw error;
  if (verb === 'put' && error.kind !== 'transport') return refusal('schema_refused', { message: error.reason });
  return refusal('invalid_schema', { message: `invalid schema: ${error.reason}` });
}
