import type { ContentType } from '../../domain/content/content-type.ts';
import { MAX_SLUG, numberedSlug, slugOfTitle, toSlug } from '../../domain/content/slug.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import type { AppError } from '../../domain/errors.ts';
import type { EntrySlugs } from '../ports/entry-slugs.ts';

/** The slug that was given, and the title to make one from where none was. */
export type SlugWish = { readonly type: ContentType; readonly given: string | undefined; readonly title: string | undefined };

/** Numbers tried while other commands take them first. */
const MAX_TRIES = 20;

/**
 * Writes an entry under the slug given, normalised, or under the first free one that its title makes: `news`, `news-2` … (spec 4 A, admin content).
 * `write` gets undefined where there is nothing to make one from, and runs again when another command was first.
 * @throws `validation_failed` for a given slug that holds no letter or digit or is too long; `unique_value_held` for a given one that is held; refusals of `write`
 */
export async function underSlug<T>({ type, given, title }: SlugWish, slugs: EntrySlugs, write: (slug: string | undefined) => Promise<T>): Promise<T> {
  if (given !== undefined) return write(normalised(given));
  const base = title === undefined ? '' : slugOfTitle(title);
  if (base === '') return write(undefined);
  const first = await slugs.freeNumber(type, base);
  for (let number = first; ; number += 1) {
    try {
      return await write(numberedSlug(base, number));
    } catch (error) {
      if (!isAppError(error) || !hasCode(error, 'unique_value_held')) throw error;
      const others = (error.fields ?? []).filter(({ field }) => field !== 'slug');
      // The slug is our choice: only what the caller chose is theirs to mend.
      if (others.length > 0) throw refusal('unique_value_held', { fields: others });
      if (number - first === MAX_TRIES) throw error;
    }
  }
}

function normalised(given: string): string {
  const slug = toSlug(given.slice(0, 4 * MAX_SLUG));
  if (slug === '') throw refused('must hold a letter or a digit');
  if (given.length > 4 * MAX_SLUG || Array.from(slug).length > MAX_SLUG) throw refused(`must hold at most ${MAX_SLUG} characters`);
  return slug;
}

function refused(message: string): AppError {
  return refusal('validation_failed', { fields: [{ field: 'slug', message }] });
}
