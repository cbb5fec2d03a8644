import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { createEntryReads } from './get-entry.ts';
import type { EntryReads } from './get-entry.ts';
import { createEntryList } from './list-entries.ts';
import type { EntryList } from './list-entries.ts';
import { createRelatedList } from './list-related.ts';
import type { RelatedList } from './list-related.ts';
import type { Past } from './past.ts';
import { createStatementCache } from './statements.ts';

export type EntryQueries = { readonly reads: EntryReads; readonly lists: EntryList; readonly listRelated: RelatedList };

export type EntryQueriesOptions = {
  /** May be a replica that lags behind. */
  readonly database: Queryable;
  /** For what must not lag: pages of a walk that began earlier. Default: the same. */
  readonly primary?: Queryable;
  readonly past: Past;
};

/** Reads and lists of entries over one database; one for a process, so that statements are compiled once. */
export function createEntryQueries({ database, primary = database, past }: EntryQueriesOptions): EntryQueries {
  const statements = createStatementCache();
  return { reads: createEntryReads({ database, statements }), lists: createEntryList({ database, primary, statements, past }), listRelated: createRelatedList({ database, statements }) };
}
