import { expect } from 'chai';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { checkNewValues } from '../../../domain/content/entry-values.ts';
import { compilePattern, estimatedSize } from '../../../domain/content/field-pattern.ts';
import { testType } from '../../support/content.ts';

describe('the pattern of a field', () => {
  const rule = (pattern: string) => ({ rule: 'pattern', params: { pattern } });

  it('has an estimated size close to the size of its program', () => {
    for (const pattern of [
      '(?:a?){1000}',
      '(?:a?){1000}'.repeat(5),
      '^.{0,1000}$',
      '[a-z0-9]{3,200}',
      '(?:(?:ab){10}c{2,}){20}',
      '(?:[]{3}]{9}){50}',
      '(?:\\p{Greek}{20}\\{7}){30}',
      '(?i)[[:alpha:]]{500}',
      '^[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}$',
    ]) {
      const { size } = compilePattern(pattern);
      const estimated = estimatedSize(pattern);
      expect(estimated, pattern).to.be.within(size / 3 - 10, size * 2 + 10);
    }
  });

  it('is estimated for any text without an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('ab(){}[]\\,19*?|^p-:')) }), (text) => {
        expect(estimatedSize(text)).to.be.at.least(0);
      }),
    );
  });

  it('matches what a matcher of RE2 finds', () => {
    const atoms = fc.constantFrom('a', 'b', '[ab]', '.', '\\b', '^', '$', '(a|ba)', '(?:a?b)', '😀', '\\p{L}');
    const pattern = fc
      .array(fc.tuple(atoms, fc.constantFrom('', '*', '?', '{2}', '{0,3}')), { maxLength: 6 })
      .map((parts) => parts.map(([atom, more]) => (/^(?:\\b|\^|\$)$/.test(atom) ? atom : `${atom}${more}`)).join(''));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'ä', '😀', '\n'), maxLength: 12 });
    fc.assert(
      fc.property(pattern, text, (source, given) => {
        expect(compilePattern(source).matches(given)).to.equal(RE2JS.compile(source).matcher(given).find());
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses a text whose match would take too many steps, with the longest that it accepts', () => {
    const { definition } = testType({
      name: 'note',
      fields: [{ name: 'f', field_type: 'text', validation: [rule('(?:a?){400}$')] }],
    });
    const problems = (length: number) => checkNewValues(definition, { f: 'a'.repeat(length) }).problems;
    expect(problems(16_384)).to.deep.equal([
      { field: 'f', message: 'must have at most 2490 characters because of its pattern' },
    ]);
    expect(problems(2490)).to.deep.equal([]);
  });

  it('shares its steps with the other fields of the write', () => {
    const { definition } = testType({
      name: 'note',
      fields: ['f', 'g', 'h'].map((name) => ({
        name,
        field_type: 'text',
        validation: [rule('(?:a?){400}$')],
      })),
    });
    const text = 'a'.repeat(1_200);
    expect(checkNewValues(definition, { f: text, g: text }).problems).to.deep.equal([]);
    expect(checkNewValues(definition, { f: text, g: text, h: text }).problems).to.deep.equal([
      { field: 'h', message: 'is too long, together with the other fields that have patterns' },
    ]);
  });
});
