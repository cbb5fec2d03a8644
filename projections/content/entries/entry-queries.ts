import type { Database } from '../../../infrastructure/postgres/database.ts';
import { type EntryList, createEntryList } from './entry-list.ts';
import { type EntryReads, createEntryReads } from './entry-reads.ts';
import type { PastReader } from './past-reader.ts';
import { type RelatedList, createRelatedList } from './related-list.ts';
import { createStatementCache } from './statements.ts';

export type EntryQueries = { readonly reads: EntryReads; readonly lists: EntryList; readonly listRelated: RelatedList };

export type EntryQueriesOptions = {
  /** The database that most reads use. It may be a replica that lags behind. */
  readonly database: Pick<Database, 'query' | 'execute'>;
  /** For reads that must not lag: the pages of a cursor list after the first. Default: `database`. */
  readonly primary?: Pick<Database, 'query' | 'execute'>;
  readonly past: PastReader;
  /** Largest JSON text of a response in bytes. Default: 16 MiB. */
  readonly maxResponseBytes?: number;
};

/** Reads and lists of entries. Create one in each process, so that each statement is compiled once. */
export function createEntryQueries({
  database,
  primary = database,
  past,
  maxResponseBytes: maxBytes,
}: EntryQueriesOptions): EntryQueries {
  const statements = createStatementCache();
  return {
    reads: createEntryReads({ database, statements, maxBytes }),
    lists: createEntryList({ database, primary, statements, past, maxBytes }),
    listRelated: createRelatedList({ database, statements, maxBytes }),
  };
}
