import { withFieldNames } from '../../../domain/content/content-type.ts';
import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { moveOperations } from '../../../domain/content/move-operations.ts';
import type { TableUse } from '../../../domain/content/schema-diff.ts';
import type { PlacedOperation, SchemaOperation } from '../../../domain/content/schema-operation.ts';
import { tableNameOf } from '../../../domain/content/table-names.ts';
import { reshape, tableShape, useOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { otherUses, placed, runOperations } from './run-operations.ts';
import { refreshView } from './views.ts';
import { addStatements, writeType } from './write-rows.ts';

/** A content type is created, changed, or comes back with its entries. */
export async function projectSave(tx: Transaction, target: Target, event: EventOf<'ContentTypeSaved'>): Promise<void> {
  const { definition, statements, canceled, retained, type_id: typeId } = event.data;
  const { schema } = target;
  const { name } = definition;
  const [before] = await readContentTypes(tx, schema, { typeIds: [typeId] });
  const after = useOf({ definition, retained });
  const others = await otherUses(tx, target, { name, typeId });
  await runOperations(tx, target, before?.deleted === true ? returnOperations(before, after, { name, others }) : changeOperations(before, after, { name, others }));

  const fieldNames = withFieldNames(before?.fieldNames ?? [], event.revision, definition.fields);
  await writeType(tx, target, event, { typeId, definition, retained, fieldNames });
  if (canceled.length > 0) {
    await tx.query(
      `update ${schema}._statements set state = 'canceled', settled_revision = $3 where id = any ($1::uuid[]) and type_id = $2 and state in ('pending', 'failed')`,
      [canceled, typeId, event.revision],
    );
  }
  await addStatements(tx, target, event, typeId, statements);
  if (schema === LIVE) await refreshView(tx, name);
}

type Place = { readonly name: string; readonly others: readonly TableUse[] };

function changeOperations(before: StoredContentType | undefined, after: TableUse, { name, others }: Place): readonly PlacedOperation[] {
  return placed(name, reshape(tableShape(before ? [useOf(before), ...others] : others), tableShape([after, ...others])));
}

/** Its own table is changed where it was kept, then takes its place. */
function returnOperations(before: StoredContentType, after: TableUse, { name, others }: Place): readonly PlacedOperation[] {
  const from = tableNameOf(before);
  const restored: readonly SchemaOperation[] = before.deletedAt === undefined ? [] : [{ op: 'restore_rows', at: before.deletedAt }];
  const changes = placed(from, [...restored, ...reshape(tableShape([useOf(before)]), tableShape([after]))]);
  return [...changes, ...moveOperations({ from, to: name, tenant: before.tenant, own: after, othersThere: { from: [], to: others } })];
}
