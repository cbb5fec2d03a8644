import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { fieldNamesAfter } from '../../../domain/content/field-history.ts';
import { moveOperations } from '../../../domain/content/move-operations.ts';
import type { TableUse } from '../../../domain/content/schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { tableNameOf } from '../../../domain/content/table-name.ts';
import { reshape, tableShape, tableUseOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { readContentTypes } from './rows.ts';
import { otherUses, placedOperations, runOperations } from './run-operations.ts';
import { refreshView } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/** Projects a save: a content type is created, changed, or restored with its entries. */
export async function projectSave(tx: Transaction, target: Target, event: EventOf<'ContentTypeSaved'>): Promise<void> {
  const { definition, statements, canceled, retained, type_id: typeId } = event.data;
  const { schema } = target;
  const { name } = definition;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  const after = tableUseOf({ definition, retained });
  const others = await otherUses(tx, target, { name, typeId });
  await runOperations(
    tx,
    target,
    before?.deleted === true
      ? restoreOperations(before, after, { name, others })
      : changeOperations(before, after, { name, others }),
  );

  const fieldNames = fieldNamesAfter(before?.fieldNames ?? [], event.revision, definition.fields);
  await writeType(tx, target, { event, typeId, definition, retained, fieldNames });
  if (canceled.length > 0) {
    await tx.query(
      `update ${schema}._statements set state = 'canceled', settled_revision = $3
       where id = any ($1::uuid[]) and type_id = $2 and state in ('pending', 'failed')`,
      [canceled, typeId, event.revision],
    );
  }
  await addStatements(tx, target, { event, typeId, statements });
  await refreshView(tx, target, { name });
}

type Place = { readonly name: string; readonly others: readonly TableUse[] };

function changeOperations(
  before: StoredContentType | undefined,
  after: TableUse,
  { name, others }: Place,
): readonly PlacedOperation[] {
  return placedOperations(
    name,
    reshape(tableShape(before ? [tableUseOf(before), ...others] : others), tableShape([after, ...others])),
  );
}

/** Operations that change the restored type's own table and then move its rows to the table of its name. */
function restoreOperations(
  before: StoredContentType,
  after: TableUse,
  { name, others }: Place,
): readonly PlacedOperation[] {
  const from = tableNameOf(before);
  const restored: readonly SchemaOperation[] =
    before.deletedAt === undefined ? [] : [{ op: 'restore_rows', at: before.deletedAt }];
  const changes = placedOperations(from, [
    ...restored,
    ...reshape(tableShape([tableUseOf(before)]), tableShape([after])),
  ]);
  return [
    ...changes,
    ...moveOperations({ from, to: name, tenant: before.tenant, own: after, others: { from: [], to: others } }),
  ];
}
