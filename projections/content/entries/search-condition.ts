import type { ContentType } from '../../../domain/content/content-type.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import { LIVE } from '../content-types/rows.ts';
import { type BoundValues, bindValue } from './conditions.ts';
import { SEARCH, typeWord } from './search-table.ts';
import { rowVectorSql, searchedKeys } from './search-vector.ts';

/** A search in the entries of one type. Fields that the caller may not see are not searched. */
export type Search = {
  readonly type: ContentType;
  readonly hidden: ReadonlySet<string>;
  readonly search: string;
  /** SQL of the row's own words, for rows of a past set. Default: the words in the search table. */
  readonly words?: string | undefined;
};

/**
 * SQL: the texts of the entry contain all words of the search, in any order and in any case. `"a phrase"`, `or` and
 * `-without` work as in a web search. False for every entry when the search contains no word.
 */
export function searchSql({ type, hidden, search, words }: Search, parameters: BoundValues, alias = 't'): string {
  const query = `websearch_to_tsquery('pg_catalog.simple', ${bindValue(parameters, search, 'text')})`;
  const keys = searchedKeys(type.definition);
  const visible = keys.filter((key) => !hidden.has(key));
  const matches = (all: string): string => {
    if (visible.length === keys.length) return `${all} @@ ${query}`;
    // The stored words include those of hidden fields. Only where a hidden field has a text are the words of the
    // visible fields computed, because that is expensive.
    const nothingHidden = keys
      .filter((key) => hidden.has(key))
      .map((key) => `coalesce(${alias}.${quoteIdentifier(key)}, '') = ''`);
    return `case when ${nothingHidden.join(' and ')} then ${all} else ${rowVectorSql(LIVE, visible, alias)} end @@ ${query}`;
  };
  if (words !== undefined) return matches(words);
  // The index includes the words of hidden fields, so it only preselects rows: the query for it drops excluded words
  // and phrase distances, which hidden words could distort. The exact condition follows.
  const preselection =
    visible.length === keys.length
      ? query
      : `nullif(regexp_replace(querytree(${query}), ' <[-0-9]+> ', ' & ', 'g'), 'T')::tsquery`;
  const ofType = `array_to_tsvector(array[${bindValue(parameters, typeWord(type), 'text')}])::text::tsquery`;
  // Together with the word of the type, a query without words would match every entry of the type; it must match none.
  const indexed = `case when numnode(${query}) > 0 then coalesce(${ofType} && ${preselection}, ${ofType}) end`;
  const exact = visible.length === keys.length ? '' : ` and ${matches('s.words')}`;
  return `exists (select 1 from ${LIVE}.${SEARCH} s
    where s.entry_id = ${alias}."id" and s.words @@ (${indexed})${exact})`;
}
