import type { ContentTypeEvent } from '../../domain/content/events.ts';
import { keptTableName } from '../../domain/content/table-names.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../infrastructure/postgres/quote.ts';
import type { Target } from '../engine/projection.ts';
import { readContentTypes } from './content-types/rows.ts';
import { dropLastChanges } from './entries/last-changes.ts';
import { dropSearchOfTypes } from './entries/search-table.ts';
import { dropTombstones } from './entries/tombstones.ts';
import { contentProjection } from './projection.ts';

/** A tenant's content types go as if each had been deleted with its entries: tables that others share stay for those (spec 4 A, tenants). */
export async function forgetContentOfTenant(tx: Transaction, target: Target, deletion: RecordedEvent, slug: string): Promise<void> {
  for (const { id, name, deleted } of await readContentTypes(tx, target.schema, { tenant: slug })) {
    if (deleted) {
      await dropKept(tx, target, id);
      continue;
    }
    const event: ContentTypeEvent = { type: 'ContentTypeDeleted', data: { type_id: id, name, content: 'hard' } };
    const { metadata } = deletion;
    await contentProjection.apply(tx, target, [{ ...deletion, ...event, stream: `content_type-${slug}.${id}`, metadata: { ...metadata, tenant: slug } }]);
  }
}

/** What was kept of a content type that had been deleted. */
async function dropKept(tx: Transaction, { schema }: Target, typeId: string): Promise<void> {
  await tx.query(`drop table ${schema}.${quoteIdentifier(keptTableName(typeId))}`);
  await tx.query(`delete from ${schema}._statements where type_id = $1`, [typeId]);
  await tx.query(`delete from ${schema}._content_types where type_id = $1`, [typeId]);
  await dropTombstones(tx, schema, [typeId]);
  await dropLastChanges(tx, schema, [typeId]);
  await dropSearchOfTypes(tx, { schema }, [typeId]);
}
