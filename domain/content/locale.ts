/** A language tag: language, then script, region or variants, such as `fr`, `pt-BR` or `zh-Hant-TW`. */
const LANGUAGE_TAG = /^[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*$/i;

/** The default locale of a tenant without locale settings. */
export const DEFAULT_LOCALE = 'en';

/** @returns the tag in canonical case; undefined when the text is not a language tag */
export function parseLocale(text: string): string | undefined {
  if (text.length > 35 || !LANGUAGE_TAG.test(text)) return undefined;
  const [language = '', ...rest] = text.split('-');
  const cased = rest.map((part) =>
    /^[a-z]{2}$/i.test(part)
      ? part.toUpperCase()
      : /^[a-z]{4}$/i.test(part)
        ? part.charAt(0).toUpperCase() + part.slice(1).toLowerCase()
        : part.toLowerCase(),
  );
  return [language.toLowerCase(), ...cased].join('-');
}

/**
 * The language with the highest weight in an `Accept-Language` header; the first of several with the same weight.
 * Malformed parts are ignored.
 * @returns undefined when the header names no language
 */
export function preferredLocale(header: string): string | undefined {
  let best: { readonly locale: string; readonly weight: number } | undefined;
  for (const part of header.slice(0, 1000).split(',')) {
    const [, tag = '', quality = '1'] =
      /^\s*([A-Za-z\d-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(part) ?? [];
    const locale = parseLocale(tag);
    const weight = Number(quality);
    if (locale !== undefined && weight > 0 && weight > (best?.weight ?? 0)) best = { locale, weight };
  }
  return best?.locale;
}
