import type { ContentType } from '../../domain/content/content-type.ts';
import { DEFAULT_LOCALE } from '../../domain/content/locale.ts';

/** How entries of a type are shown in a locale. */
export type Localization = { readonly resolvedLocale: string };

/**
 * Chooses how a read in a locale shows entries. There are no translations yet, so every entry is shown as written, in
 * the default locale.
 * @returns undefined when the request names no locale
 */
export function localize(_type: ContentType, locale: string | undefined): Localization | undefined {
  return locale === undefined ? undefined : { resolvedLocale: DEFAULT_LOCALE };
}
