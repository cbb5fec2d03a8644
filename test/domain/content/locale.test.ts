import { expect } from 'chai';
import fc from 'fast-check';
import { parseLocale, preferredLocale } from '../../../domain/content/locale.ts';

describe('a locale', () => {
  it('is converted to its canonical case', () => {
    for (const [text, locale] of [
      ['fr', 'fr'],
      ['PT-br', 'pt-BR'],
      ['zh-hant-tw', 'zh-Hant-TW'],
      ['es-419', 'es-419'],
      ['de-CH-1996', 'de-CH-1996'],
    ] as const)
      expect(parseLocale(text)).to.equal(locale);
    for (const text of ['', 'f', 'fr_CA', 'fr-', '-fr', 'fr-C', '*', 'englishlanguage', 'fr-CA-CA', 'a'.repeat(40)])
      expect(parseLocale(text), text).to.equal(undefined);
  });

  it('is the first one with the highest weight in an Accept-Language header', () => {
    for (const [header, locale] of [
      ['fr', 'fr'],
      ['en;q=0.5, de-at , it;q=0.9', 'de-AT'],
      ['da, en-gb;q=0.8', 'da'],
      ['*, fr;q=0.5', 'fr'],
      ['x_y, fr;q=0.1', 'fr'],
      ['fr;q=0.8, de;q=0.8', 'fr'],
    ] as const)
      expect(preferredLocale(header)).to.equal(locale);
    for (const header of ['', '*', 'fr;q=0', ';', 'fr;q=2', 'fr;level=1'])
      expect(preferredLocale(header), header).to.equal(undefined);
  });

  it('is canonical or undefined for any header', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 2000 }), headers()), (header) => {
        const locale = preferredLocale(header);
        return locale === undefined || parseLocale(locale) === locale;
      }),
    );
  });
});

/** Headers made of the characters that a language and its weight consist of. */
function headers(): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'Z', '0', '9', '-', ',', ';', ' ', 'q=', '.', '1', '*'),
    maxLength: 60,
  });
}
