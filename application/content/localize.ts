import type { ContentType } from '../../domain/content/content-type.ts';
import { DEFAULT_LOCALE } from '../../domain/content/locale.ts';

/** What an answer in a locale lays over the entries of a type. */
export type Localization = { readonly resolvedLocale: string };

/**
 * The one place that says what a read in a locale shows (spec 2, resolution order); undefined: the entries as they are written. Without translations
 * every entry is served from its source, in the default locale.
 */
export function localize(_type: ContentType, locale: string | undefined): Localization | undefined {
  return locale === undefined ? undefined : { resolvedLocale: DEFAULT_LOCALE };
}
