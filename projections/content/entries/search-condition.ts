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
  const matches = (all: string): string => {
    if (visible.length === keys.length) return `${all} @@ ${query}`;
    // Only where a hidden field holds a text are the words of what is seen other ones; to take a text apart is dear.
    const nothingHidden = keys.filter((key) => hidden.has(key)).map((key) => `coalesce(${alias}.${quoteIdentifier(key)}, '') = ''`);
    return `case when ${nothingHidden.join(' and ')} then ${all} else ${rowVectorSql(LIVE, visible, alias)} end @@ ${query}`;
  };
  if (words !== undefined) return matches(words);
  // What is indexed holds hidden words as well: it chooses which rows are looked at, but not by words that must be missing, nor by what stands between others.
  const wanted = visible.length === keys.length ? query : `nullif(regexp_replace(querytree(${query}), ' <[-0-9]+> ', ' & ', 'g'), 'T')::tsquery`;
  const ofType = `array_to_tsvector(array[${bind(parameters, typeWord(type), 'text')}])::text::tsquery`;
  // A query without words finds nothing, and would find everything of the type together with the type's word.
  const indexed = `case when numnode(${query}) > 0 then coalesce(${ofType} && ${wanted}, ${ofType}) end`;
  const exactly = visible.length === keys.length ? '' : ` and ${matches('s.words')}`;
  return `exists (select 1 from ${LIVE}.${SEARCH} s where s.entry_id = ${alias}."id" and s.words @@ (${indexed})${exactly})`;
}
