import type { ContentType } from '../../../domain/content/content-type.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { bind } from './conditions.ts';
import type { Parameters } from './conditions.ts';
import { LIVE_SCHEMA } from './entry-json.ts';
import { rowVectorSql, searchedKeys } from './search-vector.ts';

/** A search and who asks: a field that the caller does not see is not searched (spec 4 A, masks). */
export type Search = { readonly type: ContentType; readonly hidden: ReadonlySet<string>; readonly search: string };

/**
 * SQL that holds for entries of the live read model whose texts hold the words: all of them, in any order, whatever their case; `"a phrase"`, `or` and
 * `-without` as in a web search. It holds for none where nothing of the search is a word.
 */
export function searchSql({ type, hidden, search }: Search, parameters: Parameters, alias = 't'): string {
  const query = `websearch_to_tsquery('pg_catalog.simple', ${bind(parameters, search, 'text')})`;
  const found = `${alias}."_search" @@ ${query}`;
  const keys = searchedKeys(type.definition);
  const visible = keys.filter((key) => !hidden.has(key));
  if (visible.length === keys.length) return found;
  const seen = `${rowVectorSql(quoteIdentifier(LIVE_SCHEMA), visible, alias)} @@ ${query}`;
  // The index knows hidden words as well: it may choose which rows are looked at, but not for a word that must be missing.
  return search.includes('-') ? seen : `${found} and ${seen}`;
}
