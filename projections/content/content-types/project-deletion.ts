import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { moveOperations } from '../../../domain/content/move-operations.ts';
import { keptTableName } from '../../../domain/content/table-name.ts';
import { reshape, tableShape, tableUseOf } from '../../../domain/content/table-shape.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { readContentTypes } from './rows.ts';
import { otherUses, placedOperations, runOperations } from './run-operations.ts';
import { dropView, refreshView } from './views.ts';

/**
 * Projects the deletion of a content type. Soft: its entries move to a table of their own, so that a new type can use
 * the name. Hard: the tenant's rows are deleted. Columns and tables that no other content type uses are then dropped.
 */
export async function projectDeletion(
  tx: Transaction,
  target: Target,
  event: EventOf<'ContentTypeDeleted'>,
): Promise<void> {
  const { schema } = target;
  const [deleted] = await readContentTypes(tx, schema, { typeIds: [event.data.type_id] });
  if (!deleted) return;
  const { id, name, tenant } = deleted;
  await dropView(tx, target, { name });
  if (event.data.content === 'soft') {
    await moveToKeptTable(tx, target, deleted, event.metadata.occurred_at);
    await tx.query(
      `update ${schema}._content_types set deleted_at = $2, updated_at = $2, revision = $3 where type_id = $1`,
      [id, event.metadata.occurred_at, event.revision],
    );
  } else {
    const others = await otherUses(tx, target, { name, typeId: id });
    await tx.query(`delete from ${schema}.${quoteIdentifier(name)} where tenant_id = $1`, [tenant]);
    await runOperations(
      tx,
      target,
      placedOperations(name, reshape(tableShape([tableUseOf(deleted), ...others]), tableShape(others))),
    );
    await tx.query(`delete from ${schema}._statements where type_id = $1`, [id]);
    await tx.query(`delete from ${schema}._content_types where type_id = $1`, [id]);
  }
  await refreshView(tx, target, { name });
}

/**
 * Marks the entries with the time of the deletion and moves them. That time identifies them when the type is restored,
 * so an entry that was itself deleted in the same millisecond is marked one millisecond earlier.
 */
async function moveToKeptTable(tx: Transaction, target: Target, deleted: StoredContentType, at: string): Promise<void> {
  const { id, name, tenant } = deleted;
  const table = `${target.schema}.${quoteIdentifier(name)}`;
  await tx.query(
    `update ${table} set "_deleted_at" = "_deleted_at" - interval '1 millisecond'
     where tenant_id = $1 and "_deleted_at" = $2`,
    [tenant, at],
  );
  await tx.query(`update ${table} set "_deleted_at" = $2 where tenant_id = $1 and "_deleted_at" is null`, [tenant, at]);
  const others = { from: await otherUses(tx, target, { name, typeId: id }), to: [] };
  await runOperations(
    tx,
    target,
    moveOperations({ from: name, to: keptTableName(id), tenant, own: tableUseOf(deleted), others }),
  );
}
