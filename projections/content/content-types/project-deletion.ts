import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { moveOperations } from '../../../domain/content/move-operations.ts';
import { keptTableName } from '../../../domain/content/table-names.ts';
import { reshape, tableShape, useOf } from '../../../domain/content/table-shape.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import type { EventOf } from './event-of.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { otherUses, placed, runOperations } from './run-operations.ts';
import { dropView, refreshView } from './views.ts';

/**
 * A content type goes. Soft: its entries wait in a table of their own, out of the way of a new type of the name. Hard: the tenant's rows go. Then
 * what no other content type on the table uses goes too.
 */
export async function projectDeletion(tx: Transaction, target: Target, event: EventOf<'ContentTypeDeleted'>): Promise<void> {
  const { schema } = target;
  const [deleted] = await readContentTypes(tx, schema, { typeIds: [event.data.type_id] });
  if (!deleted) return;
  const { id, name, tenant } = deleted;
  if (schema === LIVE) await dropView(tx, name);
  if (event.data.content === 'soft') {
    await keepEntries(tx, target, deleted, event.metadata.occurred_at);
    await tx.query(`update ${schema}._content_types set deleted_at = $2, updated_at = $2, revision = $3 where type_id = $1`, [id, event.metadata.occurred_at, event.revision]);
  } else {
    const others = await otherUses(tx, target, { name, typeId: id });
    await tx.query(`delete from ${schema}.${quoteIdentifier(name)} where tenant_id = $1`, [tenant]);
    await runOperations(tx, target, placed(name, reshape(tableShape([useOf(deleted), ...others]), tableShape(others))));
    await tx.query(`delete from ${schema}._statements where type_id = $1`, [id]);
    await tx.query(`delete from ${schema}._content_types where type_id = $1`, [id]);
  }
  if (schema === LIVE) await refreshView(tx, name);
}

/** Entries that are there are marked with the moment; one that was itself deleted in that very millisecond keeps a mark of its own. */
async function keepEntries(tx: Transaction, target: Target, deleted: StoredContentType, at: string): Promise<void> {
  const { id, name, tenant } = deleted;
  const table = `${target.schema}.${quoteIdentifier(name)}`;
  await tx.query(`update ${table} set "_deleted_at" = "_deleted_at" - interval '1 millisecond' where tenant_id = $1 and "_deleted_at" = $2`, [tenant, at]);
  await tx.query(`update ${table} set "_deleted_at" = $2 where tenant_id = $1 and "_deleted_at" is null`, [tenant, at]);
  const othersThere = { from: await otherUses(tx, target, { name, typeId: id }), to: [] };
  await runOperations(tx, target, moveOperations({ from: name, to: keptTableName(id), tenant, own: useOf(deleted), othersThere }));
}
