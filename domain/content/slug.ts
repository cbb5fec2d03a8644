/** Most characters of a slug (spec 4 A, admin content). */
export const MAX_SLUG = 255;

/** A made slug leaves room for the number that tells it from others. */
const MAX_MADE = 240;

/**
 * Text as a slug: lower case, runs of anything but letters, digits and `_` become one `-`, Latin letters lose their accents. Letters of other
 * scripts stay: a title in Greek or Japanese has a slug too. Its time grows with the square of a run of `_`: bound what strangers send.
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

/** The slug that a title gives, short enough for a number behind it; `''` where it gives none. */
export function slugOfTitle(title: string): string {
  return Array.from(toSlug(title.slice(0, 4 * MAX_MADE))).slice(0, MAX_MADE).join('').replace(/[-_]+$/, '');
}

/** The nth slug of one title: `news`, `news-2`, `news-3` … */
export function numberedSlug(base: string, number: number): string {
  return number <= 1 ? base : `${base}-${number}`;
}
