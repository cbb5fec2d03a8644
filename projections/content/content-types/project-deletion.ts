import type { StoredContentType } from '../../../domain/content/content-type.ts';
import { keyOf } from '../../../domain/content/entry-fields.ts';
import type { ContentTypeEvent } from '../../../domain/content/events.ts';
import { isStored } from '../../../domain/content/field-types.ts';
import type { RecordedEvent } from '../../../domain/event.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import type { Target } from '../../engine/projection.ts';
import { LIVE, readContentTypes } from './rows.ts';
import { dropView, refreshView } from './views.ts';

type Deleted = RecordedEvent & Extract<ContentTypeEvent, { readonly type: 'ContentTypeDeleted' }>;

/**
 * A content type goes. Soft: its entries are marked deleted at this moment and stay with their columns. Hard: the tenant's rows go, then
 * what no other content type on the table uses.
 */
export async function projectDeletion(tx: Transaction, target: Target, event: Deleted): Promise<void> {
  const { schema } = target;
  const { tenant, occurred_at: at } = event.metadata;
  const [deleted] = await readContentTypes(tx, schema, { typeIds: [event.data.type_id] });
  if (!deleted) return;
  const table = `${schema}.${quoteIdentifier(deleted.name)}`;
  if (event.data.content === 'soft') {
    await tx.query(`update ${table} set "_deleted_at" = $2 where tenant_id = $1 and "_deleted_at" is null`, [tenant, at]);
    await tx.query(`update ${schema}._content_types set deleted_at = $2, updated_at = $2, revision = $3 where type_id = $1`, [deleted.id, at, event.revision]);
    return;
  }
  const sharing = await readContentTypes(tx, schema, { name: deleted.name });
  const going = sharing.filter((type) => type.tenant === tenant);
  const staying = sharing.filter((type) => type.tenant !== tenant);
  const ids = going.map(({ id }) => id);
  await tx.query(`delete from ${schema}._statements where type_id = any ($1::uuid[])`, [ids]);
  await tx.query(`delete from ${schema}._content_types where type_id = any ($1::uuid[])`, [ids]);
  if (schema === LIVE) await dropView(tx, deleted.name);
  if (staying.length === 0) {
    await tx.query(`drop table ${table}`);
    return;
  }
  await tx.query(`delete from ${table} where tenant_id = $1`, [tenant]);
  const used = columnsOf(staying);
  for (const column of columnsOf(going)) if (!used.has(column)) await tx.query(`alter table ${table} drop column ${quoteIdentifier(column)}`);
  if (schema === LIVE) await refreshView(tx, deleted.name);
}

function columnsOf(types: readonly StoredContentType[]): ReadonlySet<string> {
  return new Set(types.flatMap(({ definition, retained }) => [...definition.fields, ...retained]).filter(isStored).map(keyOf));
}
