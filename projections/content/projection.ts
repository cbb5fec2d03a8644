import { contentTypeEvents } from '../../domain/content/content-type-events.ts';
import type { RecordedEvent } from '../../domain/event.ts';
import { categoryOf, streamName } from '../../domain/stream.ts';
import type { Transaction } from '../../infrastructure/postgres/database.ts';
import type { Projection, Target } from '../engine/projection.ts';
import { splitAt } from '../engine/split-at.ts';
import { projectWithSearchIndex } from './content-types/project-with-search-index.ts';
import { projectContentTypeEvent } from './content-types/projector.ts';
import { contentTypesById, readContentTypes } from './content-types/rows.ts';
import { contentTypeTables, createContentTypeTables } from './content-types/tables.ts';
import { recreateViews } from './content-types/views.ts';
import { LAST_CHANGES, createLastChanges, deleteLastChanges } from './entries/last-changes.ts';
import { projectEntryEvents } from './entries/projector.ts';
import { SEARCH, buildSearchIndex, createSearchTable, unindexTypes } from './entries/search-table.ts';
import { createSearchFunction } from './entries/search-vector.ts';
import { TOMBSTONES, createTombstones, deleteTombstones } from './entries/tombstones.ts';

/** The read model of content, schema `rm_content`: the definitions, and one typed table for each content type name. */
export const contentProjection: Projection = {
  name: 'content',
  version: 2,
  categories: ['content_type', 'entry'],
  // Entries are written to the table of their content type.
  dependsOn({ stream, data, metadata: { tenant } }) {
    const type = data['type_id'];
    return categoryOf(stream) === 'entry' && typeof type === 'string'
      ? [streamName({ category: 'content_type', tenant, id: type })]
      : [];
  },
  async create(tx, target) {
    await createContentTypeTables(tx, target);
    await createSearchFunction(tx, target);
    await createSearchTable(tx, target);
    await createTombstones(tx, target);
    await createLastChanges(tx, target);
  },
  apply: projectContent,
  // Every event of a content type or an entry names the content type, which has one table.
  tableOf: ({ data }) => (typeof data['type_id'] === 'string' ? data['type_id'] : undefined),
  finish: async (run, target) =>
    buildSearchIndex(run, target, await run((tx) => readContentTypes(tx, target.schema, {}))),
  tables: async (tx, target) => [
    ...(await contentTypeTables(tx, target)),
    { table: LAST_CHANGES },
    { table: SEARCH },
    { table: TOMBSTONES },
  ],
  afterSwap: recreateViews,
};

async function projectContent(tx: Transaction, target: Target, events: readonly RecordedEvent[]): Promise<void> {
  // Entries are written to the tables that exist at their point in the log.
  for (const run of splitAt(events, ({ stream }) => categoryOf(stream) === 'content_type')) {
    const [first] = run;
    if (first && categoryOf(first.stream) === 'content_type') await projectTypeEvent(tx, target, first);
    else
      await projectEntryEvents(tx, target, {
        events: run,
        typesById: (ids) => contentTypesById(tx, target.schema, ids),
      });
  }
}

async function projectTypeEvent(tx: Transaction, target: Target, event: RecordedEvent): Promise<void> {
  await projectWithSearchIndex(tx, target, { event, project: () => projectContentTypeEvent(tx, target, event) });
  if (!contentTypeEvents.includes(event) || event.type !== 'ContentTypeDeleted' || event.data.content !== 'hard')
    return;
  await deleteTombstones(tx, target, [event.data.type_id]);
  await deleteLastChanges(tx, target, [event.data.type_id]);
  await unindexTypes(tx, target, [event.data.type_id]);
}
