import type { ContentTypeDefinition } from '../../../domain/content/definition.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import type { Transaction } from '../../../infrastructure/postgres/database.ts';
import { quoteIdentifier } from '../../../infrastructure/postgres/quote.ts';
import type { Target } from '../../engine/projection.ts';

/**
 * Maximum size of the indexed texts of an entry, in bytes. PostgreSQL limits a `tsvector` to 1 MB, and a text can
 * produce up to 3.5 times its size (measured with hyphenated compounds of two-letter words).
 */
const MAX_BYTES = 200_000;

/**
 * The PostgreSQL parser needs quadratic time for a long run of characters without a space, such as `a_a_a_…`. Longer
 * runs are split into pieces of this many characters, except in texts of at most `SHORT_BYTES`.
 */
const MAX_RUN = 100;
const SHORT_BYTES = 400;

/**
 * Long texts are split in blocks of this many characters, because PostgreSQL finds a character of UTF-8 text by
 * counting from its start.
 */
const BLOCK = 5_000;

/**
 * Keys of the fields that full-text search covers: `text` and `rich_text`. They are sorted by field id, so that moving
 * or renaming a field does not change the stored positions of the words.
 */
export function searchedKeys(definition: ContentTypeDefinition): readonly string[] {
  const fields = storedFields(definition).filter(
    ({ definition: { field_type } }) => field_type === 'text' || field_type === 'rich_text',
  );
  return fields.toSorted((a, b) => (a.definition.id < b.definition.id ? -1 : 1)).map(({ key }) => key);
}

/**
 * Creates the function `_search_vector(texts)` in the schema of the target. It returns the words of the texts in
 * lower case, with their positions. The parser of PostgreSQL ignores HTML tags and entities. When the texts have more
 * than 200,000 bytes together, each is cut to an equal share. The function accepts every text without an error.
 */
export async function createSearchFunction(tx: Transaction, { schema }: Target): Promise<void> {
  await tx.query(`create function ${schema}._search_vector(texts text[]) returns tsvector
    language plpgsql immutable parallel safe as $$
    declare
      whole text := array_to_string(texts, ' ');
      block text;
      parts text[] := '{}';
    begin
      if octet_length(whole) > ${MAX_BYTES} then
        select string_agg(left(t, ${MAX_BYTES / 4} / cardinality(array_remove(texts, null))), ' ' order by n) into whole
          from unnest(texts) with ordinality u (t, n);
      end if;
      if octet_length(whole) > ${SHORT_BYTES} and whole ~ '\\S{${MAX_RUN}}' then
        for block in select substr(whole, k, ${BLOCK}) from generate_series(1, length(whole), ${BLOCK}) k loop
          if block ~ '\\S{${MAX_RUN}}' then
            select string_agg(case when length(w) <= ${MAX_RUN} then w
              else (select string_agg(substr(w, k, ${MAX_RUN}), ' ' order by k)
              from generate_series(1, length(w), ${MAX_RUN}) k) end, ' ' order by n)
              into block from string_to_table(translate(block, E'\\t\\n\\r', '   '), ' ') with ordinality u (w, n);
          end if;
          parts := parts || block;
        end loop;
        whole := array_to_string(parts, '');
      end if;
      return to_tsvector('pg_catalog.simple', whole);
    end $$`);
}

/** SQL of the words of some fields; `expression` gives the SQL of a field's value. */
export function searchVectorSql(schema: string, keys: readonly string[], expression: (key: string) => string): string {
  return `${schema}._search_vector(array[${keys.map(expression).join(', ')}]::text[])`;
}

/** SQL of the words of some fields of the row `alias`. */
export function rowVectorSql(schema: string, keys: readonly string[], alias: string): string {
  return searchVectorSql(schema, keys, (key) => `${alias}.${quoteIdentifier(key)}`);
}
