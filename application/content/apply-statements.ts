import { TYPE_NAME } from '../../domain/content/content-type-parser.ts';
import { uniqueScope } from '../../domain/content/field-types.ts';
import { currentOperation, endedFields, operationsAfterRemoval } from '../../domain/content/pending-statements.ts';
import type { SchemaStatement } from '../../domain/content/schema-statement.ts';
import { tableUseOf } from '../../domain/content/table-shape.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { SchemaSession } from '../ports/schema-sessions.ts';
import { withEndingScopes } from '../with-claims.ts';
import { appendTypeChange } from './append-type-change.ts';
import { changeExistingType } from './change-existing-type.ts';
import { type ContentTypeDependencies, changeInProgress } from './content-type-dependencies.ts';
import { otherTableUses } from './shared-table.ts';
import { toStatement, toStatements } from './to-statement.ts';

export type AppliedStatements = {
  readonly applied: number;
  /** Statements that saves have canceled since the pending statements were last applied. */
  readonly canceled: number;
  /** Statements that the database refused; they stay pending. */
  readonly failed: number;
  /** Undefined when there was nothing to do. */
  readonly position: GlobalPosition | undefined;
};

export const NOTHING_APPLIED: AppliedStatements = { applied: 0, canceled: 0, failed: 0, position: undefined };

/**
 * Runs the pending statements of a content type. This permanently removes the values of removed fields and releases
 * their unique values; it also completes the change of options that were turned off. Each statement is tried
 * separately: one that the database refuses stays pending.
 * @throws `schema_not_found`, `ddl_in_progress`, `not_caught_up`
 */
export async function applyStatements(
  { name }: { readonly name: string },
  context: CommandContext,
  dependencies: ContentTypeDependencies,
): Promise<AppliedStatements> {
  const { tenant, newId } = context;
  if (!TYPE_NAME.test(name)) throw refusal('schema_not_found');
  return changeExistingType(
    {
      name,
      tenantTypes: 'shared',
      async change(stored, session) {
        const { canceled, pending } = stored;
        if (pending.length + canceled === 0) return NOTHING_APPLIED;
        const others = otherTableUses(await session.named(name), tenant);
        const queue = pending.map(({ id, operation }) => {
          const current = currentOperation(operation, { tenant, retained: stored.retained, others });
          return toStatement({ operation: current, table: name, id }, dependencies);
        });
        const { applied, failed } = await tryEach({ queue, tenant, table: name }, session);
        const ended = endedFields(applied, stored.retained);
        const retained = stored.retained.filter((field) => !ended.includes(field));
        const operations = operationsAfterRemoval(
          { before: tableUseOf(stored), after: tableUseOf({ ...stored, retained }) },
          others,
        );
        const statements = toStatements({ operations, table: name, newId }, dependencies);
        const event = { type_id: stored.id, name, applied, statements, failed, retained };
        const position = await withEndingScopes(
          {
            tenant,
            prefixes: ended.filter(({ unique }) => unique === true).map(({ id }) => uniqueScope(stored.id, id)),
            work: () =>
              appendTypeChange(
                { typeId: stored.id, stored, command: { kind: 'apply_statements', event } },
                context,
                dependencies,
              ),
          },
          dependencies,
        );
        return { applied: applied.length, canceled, failed: failed.length, position };
      },
    },
    context,
    dependencies,
  );
}

type TriedStatements = {
  readonly applied: readonly SchemaStatement[];
  readonly failed: readonly { readonly id: string; readonly reason: string }[];
};

async function tryEach(
  {
    queue,
    tenant,
    table,
  }: { readonly queue: readonly SchemaStatement[]; readonly tenant: string; readonly table: string },
  session: SchemaSession,
): Promise<TriedStatements> {
  const applied: SchemaStatement[] = [];
  const failed: { readonly id: string; readonly reason: string }[] = [];
  for (const statement of queue) {
    const trial = await session.tryOut({ tenant, table, statements: [statement], checks: [] });
    if (trial.outcome === 'locked') throw changeInProgress();
    if (trial.outcome === 'refused') failed.push({ id: statement.id, reason: trial.reason });
    else applied.push(statement);
  }
  return { applied, failed };
}
