import { moveOperations } from '../../../domain/content/move-operations.ts';
import { retargetRelations } from '../../../domain/content/rename-content-type.ts';
import type { SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { tableUseOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { renderOperation } from './render-operation.ts';
import { rewriteOtherTypes } from './rewrite-other-types.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { otherUses, runOperations } from './run-operations.ts';
import { refreshView, renameView } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/** Projects the rename of a content type: moves its rows and updates its pending statements and the relations to it. */
export async function projectRename(
  tx: Transaction,
  target: Target,
  event: EventOf<'ContentTypeRenamed'>,
): Promise<void> {
  const { type_id: typeId, from, definition, statements } = event.data;
  const { schema } = target;
  const { tenant } = event.metadata;
  const to = definition.name;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  if (!before) throw new Error(`renamed content type ${typeId} does not exist`);
  const others = {
    from: await otherUses(tx, target, { name: from, typeId }),
    to: await otherUses(tx, target, { name: to, typeId }),
  };
  const operations = moveOperations({ from, to, tenant, own: tableUseOf(before), others });
  if (operations.some(({ operation }) => operation.op === 'rename_table')) await renameView(tx, target, { from, to });
  await runOperations(tx, target, operations);

  await writeType(tx, target, {
    event,
    typeId,
    definition,
    retained: retargetRelations(before.retained, { from, to }),
    fieldNames: before.fieldNames,
  });
  await rewriteOtherTypes(tx, target, {
    tenant,
    except: typeId,
    rewrite: (fields) => retargetRelations(fields, { from, to }),
  });
  await renderPendingStatements(tx, target, { typeId, table: to });
  await addStatements(tx, target, { event, typeId, statements });
  for (const name of [from, to]) await refreshView(tx, target, { name });
}

/** Renders the texts of the pending statements for the table's new name. */
async function renderPendingStatements(
  tx: Transaction,
  { schema }: Target,
  { typeId, table }: { readonly typeId: string; readonly table: string },
): Promise<void> {
  const pending = await tx.query<{ id: string; operation: SchemaOperation }>(
    `select id, operation from ${schema}._statements where type_id = $1 and state in ('pending', 'failed')`,
    [typeId],
  );
  for (const { id, operation } of pending) {
    const { description, sql, down_sql: down } = renderOperation(operation, { schema: LIVE, table });
    await tx.query(`update ${schema}._statements set description = $2, sql = $3, down_sql = $4 where id = $1`, [
      id,
      description,
      sql,
      down,
    ]);
  }
}
