import type { ContentType } from '../../../domain/content/content-type.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { bind } from './conditions.ts';
import type { Parameters } from './conditions.ts';
import { LIVE_SCHEMA } from './entry-json.ts';
import { SEARCH, typeWord } from './search-table.ts';
import { rowVectorSql, searchedKeys } from './search-vector.ts';

/** A search and who asks: a field that the caller does not see is not searched (spec 4 A, masks). */
export type Search = {
  readonly type: ContentType;
  readonly hidden: ReadonlySet<string>;
  readonly search: string;
  /** SQL of a row's words where it has them by itself, as rows of the past do. */
  readonly words?: string | undefined;
};

const LIVE = quoteIdentifier(LIVE_SCHEMA);

/**
 * SQL that holds for entries of the live read model whose texts hold the words: all of them, in any order, whatever their case; `"a phrase"`, `or` and
 * `-without` as in a web search. It holds for none where nothing of the search is a word.
 */
export function searchSql({ type, hidden, search, words }: Search, parameters: Parameters, alias = 't'): string {
  const query = `websearch_to_tsquery('pg_catalog.simple', ${bind(parameters, search, 'text')})`;
  const keys = searchedKeys(type.definition);
  const visible = keys.filter((key) => !hidden.has(key));
  const seen = `${rowVectorSql(LIVE, visible, alias)} @@ ${query}`;
  // What is indexed holds hidden words as well: it may choose which rows are looked at, but not for a word that must be missing.
  if (visible.length < keys.length && search.includes('-')) return seen;
  const found = words === undefined ? indexedSql(type, query, parameters, alias) : `${words} @@ ${query}`;
  return visible.length < keys.length ? `${found} and ${seen}` : found;
}

/** A query without words finds nothing, and would find everything of the type together with the type's word. */
function indexedSql(type: ContentType, query: string, parameters: Parameters, alias: string): string {
  const ofType = `array_to_tsvector(array[${bind(parameters, typeWord(type), 'text')}])::text::tsquery`;
  const whole = `case when numnode(${query}) > 0 then ${ofType} && ${query} end`;
  return `exists (select 1 from ${LIVE}.${SEARCH} s where s.entry_id = ${alias}."id" and s.words @@ (${whole}))`;
}
