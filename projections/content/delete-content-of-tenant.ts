import type { ContentTypeEvent } from '../../domain/content/content-type-events.ts';
import { keptTableName } from '../../domain/content/table-name.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { Target } from '../engine/projection.ts';
import { readContentTypes } from './content-types/rows.ts';
import { deleteLastChanges } from './entries/last-changes.ts';
import { unindexTypes } from './entries/search-table.ts';
import { deleteTombstones } from './entries/tombstones.ts';
import { contentProjection } from './projection.ts';

/**
 * Deletes the content of a deleted tenant: applies a hard deletion of each of its content types, so that tables shared
 * with other tenants are kept for them.
 */
export async function deleteContentOfTenant(
  tx: Transaction,
  target: Target,
  { deletion, slug }: { readonly deletion: RecordedEvent; readonly slug: string },
): Promise<void> {
  for (const { id, name, deleted } of await readContentTypes(tx, target.schema, { tenant: slug })) {
    if (deleted) {
      await dropSoftDeletedType(tx, target, id);
      continue;
    }
    const event: ContentTypeEvent = { type: 'ContentTypeDeleted', data: { type_id: id, name, content: 'hard' } };
    const { metadata } = deletion;
    await contentProjection.apply(tx, target, [
      { ...deletion, ...event, stream: `content_type-${slug}.${id}`, metadata: { ...metadata, tenant: slug } },
    ]);
  }
}

/** Deletes what is kept of a content type that was deleted with `content=soft`. */
async function dropSoftDeletedType(tx: Transaction, target: Target, typeId: string): Promise<void> {
  const { schema } = target;
  await tx.query(`drop table ${schema}.${quoteIdentifier(keptTableName(typeId))}`);
  await tx.query(`delete from ${schema}._statements where type_id = $1`, [typeId]);
  await tx.query(`delete from ${schema}._content_types where type_id = $1`, [typeId]);
  await deleteTombstones(tx, target, [typeId]);
  await deleteLastChanges(tx, target, [typeId]);
  await unindexTypes(tx, target, [typeId]);
}
