import type { ContentTypeDefinition } from '../../../domain/content/definition.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';

/**
 * Most bytes of an entry's text whose words can be found. PostgreSQL holds a row's words in at most 1 MB; text makes up to 3.5 times its bytes of
 * them (measured: two-letter compounds with hyphens).
 */
const MAX_BYTES = 200_000;

/** PostgreSQL takes quadratic time for a run of characters such as `a_a_a_…`: none is longer than this, but in texts too short to matter. */
const MAX_RUN = 100;
const SHORT_BYTES = 400;

/** Long texts are searched for such runs in blocks, for the place of a character in UTF-8 is found by counting. */
const BLOCK = 5_000;

/** Keys of the fields that full-text search looks through (spec 4 A, `q`), in an order that no change of the type changes: words keep their places. */
export function searchedKeys(definition: ContentTypeDefinition): readonly string[] {
  const fields = storedFields(definition).filter(({ definition: { field_type } }) => field_type === 'text' || field_type === 'rich_text');
  return fields.toSorted((a, b) => (a.definition.id < b.definition.id ? -1 : 1)).map(({ key }) => key);
}

/**
 * The function `_search_vector(texts)` of a read model's schema (in quotes): words of texts, lower case, with their places. Tags and entities of HTML
 * are no words to PostgreSQL's parser. Of texts over 200,000 bytes together each is cut to its share. Never fails.
 */
export function searchFunction(schema: string): string {
  return `create function ${schema}._search_vector(texts text[]) returns tsvector language plpgsql immutable parallel safe as $$
    declare
      whole text := array_to_string(texts, ' ');
      block text;
      parts text[] := '{}';
    begin
      if octet_length(whole) > ${MAX_BYTES} then
        select string_agg(left(t, ${MAX_BYTES / 4} / cardinality(array_remove(texts, null))), ' ' order by n) into whole from unnest(texts) with ordinality u (t, n);
      end if;
      if octet_length(whole) > ${SHORT_BYTES} and whole ~ '\\S{${MAX_RUN}}' then
        for block in select substr(whole, k, ${BLOCK}) from generate_series(1, length(whole), ${BLOCK}) k loop
          if block ~ '\\S{${MAX_RUN}}' then
            select string_agg(case when length(w) <= ${MAX_RUN} then w else (select string_agg(substr(w, k, ${MAX_RUN}), ' ' order by k) from generate_series(1, length(w), ${MAX_RUN}) k) end, ' ' order by n)
              into block from string_to_table(translate(block, E'\\t\\n\\r', '   '), ' ') with ordinality u (w, n);
          end if;
          parts := parts || block;
        end loop;
        whole := array_to_string(parts, '');
      end if;
      return to_tsvector('pg_catalog.simple', whole);
    end $$`;
}

/** SQL of the words of some fields; `expression` gives a field's value. */
export function searchVectorSql(schema: string, keys: readonly string[], expression: (key: string) => string): string {
  return `${schema}._search_vector(array[${keys.map(expression).join(', ')}]::text[])`;
}

/** SQL of the words of some fields of the row `alias`. */
export function rowVectorSql(schema: string, keys: readonly string[], alias: string): string {
  return searchVectorSql(schema, keys, (key) => `${alias}.${quoteIdentifier(key)}`);
}
