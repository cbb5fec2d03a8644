/** Maximum length of a slug in characters. */
export const MAX_SLUG = 255;

/** Maximum length of a slug made from a title, before a number is added. */
const MAX_TITLE_SLUG = 240;

/**
 * Converts text to a slug: lower case, each run of characters other than letters, digits and `_` becomes one `-`, and
 * Latin letters lose their accents. Letters of other scripts are kept, so that a title in Greek or Japanese has a slug
 * too. The time grows with the square of the length of a run of `_`: limit the length of untrusted text.
 * @returns `''` for text without a letter or digit
 */
export function toSlug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/(\p{Script=Latin})\p{Mn}+/gu, '$1')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe')
    .replaceAll('ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('đ', 'd')
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}_]+/gu, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '');
}

/**
 * The slug for a title, short enough to add a number.
 * @returns `''` when the title has no letter or digit
 */
export function slugOfTitle(title: string): string {
  return Array.from(toSlug(title.slice(0, 4 * MAX_TITLE_SLUG)))
    .slice(0, MAX_TITLE_SLUG)
    .join('')
    .replace(/[-_]+$/, '');
}

/** The nth slug of one title: `news`, `news-2`, `news-3` … */
export function numberedSlug(base: string, number: number): string {
  return number <= 1 ? base : `${base}-${number}`;
}
