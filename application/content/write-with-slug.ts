import type { ContentType } from '../../domain/content/content-type.ts';
import { MAX_SLUG, numberedSlug, slugOfTitle, toSlug } from '../../domain/content/slug.ts';
import { type AppError, hasCode, invalidField, isAppError, refusal } from '../../domain/errors.ts';
import type { EntrySlugs } from '../ports/entry-slugs.ts';

/** The slug from the request, and the title to make one from when there is none. */
export type SlugChoice = {
  readonly type: ContentType;
  readonly chosenSlug: string | undefined;
  readonly title: string | undefined;
};

/** Numbers to try when other commands take the slug first. */
const MAX_TRIES = 20;

/**
 * Writes an entry with the given slug, normalised, or with the first free slug for its title: `news`, `news-2` …
 * `write` gets undefined when there is neither slug nor title. It runs again with the next number when another command
 * takes the slug first.
 * @throws `validation_failed` for a given slug without letters and digits, or one that is too long; `unique_value_held`
 *   for a given slug that another entry holds; refusals of `write`
 */
export async function writeWithSlug<T>(
  { type, chosenSlug, title, write }: SlugChoice & { readonly write: (slug: string | undefined) => Promise<T> },
  { slugs }: { readonly slugs: EntrySlugs },
): Promise<T> {
  if (chosenSlug !== undefined) return write(normaliseSlug(chosenSlug));
  const base = title === undefined ? '' : slugOfTitle(title);
  if (base === '') return write(undefined);
  const first = await slugs.freeNumber(type, base);
  for (let number = first; ; number += 1) {
    try {
      return await write(numberedSlug(base, number));
    } catch (error) {
      if (!isAppError(error) || !hasCode(error, 'unique_value_held')) throw error;
      const others = (error.fields ?? []).filter(({ field }) => field !== 'slug');
      // The client did not choose the slug, so the error names only its own fields.
      if (others.length > 0) throw refusal('unique_value_held', { fields: others });
      if (number - first === MAX_TRIES) throw error;
    }
  }
}

function normaliseSlug(text: string): string {
  const slug = toSlug(text.slice(0, 4 * MAX_SLUG));
  if (slug === '') throw slugRefusal('must contain a letter or a digit');
  if (text.length > 4 * MAX_SLUG || Array.from(slug).length > MAX_SLUG)
    throw slugRefusal(`must have at most ${MAX_SLUG} characters`);
  return slug;
}

function slugRefusal(message: string): AppError {
  return invalidField('slug', message);
}
