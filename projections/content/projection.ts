import { isContentTypeEvent } from '../../domain/content/content-type.ts';
import type { StoredContentType } from '../../domain/content/content-type.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';
import { followSearch } from './content-types/follow-search.ts';
import { applyContentTypeEvent } from './content-types/projector.ts';
import { readContentTypes } from './content-types/rows.ts';
import { contentTypeTables, createContentTypeTables } from './content-types/tables.ts';
import { recreateViews } from './content-types/views.ts';
import { createLastChanges, dropLastChanges, LAST_CHANGES } from './entries/last-changes.ts';
import { applyEntryEvents } from './entries/projector.ts';
import { createSearch, dropSearchOfTypes, fillSearch, SEARCH } from './entries/search-table.ts';
import { searchFunction } from './entries/search-vector.ts';
import { createTombstones, dropTombstones, TOMBSTONES } from './entries/tombstones.ts';

/** The read model of content: definitions, and one typed table a content type (spec 5, rules 6 and 9). */
export const contentProjection: Projection = {
  name: 'content',
  version: 2,
  categories: ['content_type', 'entry'],
  async create(tx, target) {
    await createContentTypeTables(tx, target);
    await tx.query(searchFunction(target.schema));
    await createSearch(tx, target);
    await tx.query(createTombstones(target.schema));
    await tx.query(createLastChanges(target.schema));
  },
  async apply(tx, target, events) {
    for (const run of splitRuns(events)) {
      const [first] = run;
      if (first && categoryOf(first.stream) === 'content_type') await applyTypeEvent(tx, target, first);
      else await applyEntryEvents(tx, target, run, (ids) => readTypes(tx, target, ids));
    }
  },
  finish: async (tx, target) => fillSearch(tx, target, await readContentTypes(tx, target.schema, {})),
  tables: async (tx, target) => [...(await contentTypeTables(tx, target)), { table: LAST_CHANGES }, { table: SEARCH }, { table: TOMBSTONES }],
  afterSwap: (tx) => recreateViews(tx),
};

async function applyTypeEvent(tx: Transaction, target: Target, event: RecordedEvent): Promise<void> {
  await followSearch(tx, target, event, () => applyContentTypeEvent(tx, target, event));
  if (!isContentTypeEvent(event) || event.type !== 'ContentTypeDeleted' || event.data.content !== 'hard') return;
  await dropTombstones(tx, target.schema, [event.data.type_id]);
  await dropLastChanges(tx, target.schema, [event.data.type_id]);
  await dropSearchOfTypes(tx, target, [event.data.type_id]);
}

/** Runs of entry events, cut at every event of a content type, which stands alone: entries are written to the tables of their moment. */
function splitRuns(events: readonly RecordedEvent[]): readonly (readonly RecordedEvent[])[] {
  const runs: RecordedEvent[][] = [];
  let open: RecordedEvent[] | undefined;
  for (const event of events) {
    if (categoryOf(event.stream) === 'content_type') {
      runs.push([event]);
      open = undefined;
    } else if (open) open.push(event);
    else runs.push((open = [event]));
  }
  return runs;
}

/**
 * A type that is not there was deleted hard, and its entries' rows with it: a write that raced with the deletion has no effect. (No entry is
 * written before its type, so there is no other way to miss one.)
 */
async function readTypes(tx: Transaction, { schema }: Target, typeIds: readonly string[]): Promise<ReadonlyMap<string, StoredContentType>> {
  return new Map((await readContentTypes(tx, schema, { typeIds })).map((type) => [type.id, type]));
}
