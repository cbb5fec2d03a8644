import type { Queryable } from '../../../infrastructure/postgres/database.ts';
import { type EntryReads, createEntryReads } from './get-entry.ts';
import { type EntryList, createEntryList } from './list-entries.ts';
import { type RelatedList, createRelatedList } from './list-related.ts';
import type { PastReader } from './past-reader.ts';
import { createStatementCache } from './statements.ts';

export type EntryQueries = { readonly reads: EntryReads; readonly lists: EntryList; readonly listRelated: RelatedList };

export type EntryQueriesOptions = {
  /** The database that most reads use. It may be a replica that lags behind. */
  readonly database: Queryable;
  /** For reads that must not lag: the pages of a cursor list after the first. Default: `database`. */
  readonly primary?: Queryable;
  readonly past: PastReader;
};

/** Reads and lists of entries. Create one in each process, so that each statement is compiled once. */
export function createEntryQueries({ database, primary = database, past }: EntryQueriesOptions): EntryQueries {
  const statements = createStatementCache();
  return {
    reads: createEntryReads({ database, statements }),
    lists: createEntryList({ database, primary, statements, past }),
    listRelated: createRelatedList({ database, statements }),
  };
}
