import { type SchemaOperation, removedColumn } from '../../../domain/content/schema-operation.ts';
import type { SchemaStatement } from '../../../domain/content/schema-statement.ts';
import { type TableShape, reshape, tableShape, tableUseOf } from '../../../domain/content/table-shape.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { readContentTypes } from './rows.ts';
import { otherUses, placedOperations, runOperations } from './run-operations.ts';
import { refreshView } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/**
 * Projects applied statements: the values of removed fields are permanently deleted; failed statements stay pending.
 */
export async function projectAppliedStatements(
  tx: Transaction,
  target: Target,
  event: EventOf<'ContentTypeStatementsApplied'>,
): Promise<void> {
  const { type_id: typeId, applied, statements, failed, retained } = event.data;
  const { schema } = target;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  if (!before) throw new Error(`statements were applied to the unknown content type ${typeId}`);
  const { name, definition, fieldNames, tenant } = before;
  const others = await otherUses(tx, target, { name, typeId });
  const after = tableShape([tableUseOf({ definition, retained }), ...others]);
  const operations = applied.flatMap(({ operation }) => valueOperation(operation, after, tenant));
  await runOperations(
    tx,
    target,
    placedOperations(name, [...operations, ...reshape(tableShape([tableUseOf(before), ...others]), after)]),
  );

  await writeType(tx, target, { event, typeId, definition, retained, fieldNames });
  await tx.query(`update ${schema}._content_types set applied_revision = $2 where type_id = $1`, [
    typeId,
    event.revision,
  ]);
  await markApplied(tx, target, event, applied);
  for (const { id, reason } of failed) {
    await tx.query(
      `update ${schema}._statements set state = 'failed', reason = $3, settled_revision = $4
       where id = $1 and type_id = $2`,
      [id, typeId, reason, event.revision],
    );
  }
  await addStatements(tx, target, { event, typeId, statements });
  await refreshView(tx, target, { name });
}

/**
 * The operation on the tenant's values. A column that no type uses any more is dropped with the change of the table's
 * shape.
 */
function valueOperation(
  operation: SchemaOperation,
  after: TableShape | undefined,
  tenant: string,
): readonly SchemaOperation[] {
  const column = removedColumn(operation);
  if (!column) return [operation];
  return after?.columns.some(({ name }) => name === column.name) === true
    ? [{ op: 'clear_column', column, tenant }]
    : [];
}

/** Marks pending statements as applied, with the text that ran. */
async function markApplied(
  tx: Transaction,
  { schema }: Target,
  event: RecordedEvent,
  applied: readonly SchemaStatement[],
): Promise<void> {
  for (const { id, description, sql, down_sql: down, operation } of applied) {
    await tx.query(
      `update ${schema}._statements
       set state = 'applied', reason = null, applied_at = $2, settled_revision = $3, description = $4, sql = $5,
       down_sql = $6, operation = $7 where id = $1`,
      [id, event.metadata.occurred_at, event.revision, description, sql, down, JSON.stringify(operation)],
    );
  }
}
