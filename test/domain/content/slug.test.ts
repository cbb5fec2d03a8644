import { expect } from 'chai';
import fc from 'fast-check';
import { titleOf } from '../../../domain/content/entry-title.ts';
import { numberedSlug, slugOfTitle, toSlug } from '../../../domain/content/slug.ts';
import { testType } from '../../support/content.ts';

describe('a slug', () => {
  for (const [text, slug] of [
    ['Hello, World!', 'hello-world'],
    ['  --Trim__me--  ', 'trim__me'],
    ['Crème brûlée à l’œuf', 'creme-brulee-a-loeuf'],
    ["Don't", 'dont'],
    ['Straße ÆØŁ', 'strasse-aeol'],
    ['snake_case', 'snake_case'],
    ['Ένα', 'ένα'],
    ['日本語のがぎ 2', '日本語のがぎ-2'],
    ['हिन्दी', 'हिन्दी'],
    ['ﬁne', 'fine'],
    ['???', ''],
    ['\ud800', ''],
  ] as const)
    it(`made from ${JSON.stringify(text)} is ${JSON.stringify(slug)}`, () => expect(toSlug(text)).to.equal(slug));

  it('converts to itself, begins and ends with a letter or digit, and needs no encoding in a path but for letters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (text) => {
        const slug = toSlug(text);
        expect(toSlug(slug)).to.equal(slug);
        expect(slug).to.match(/^(?:[\p{L}\p{N}\p{M}](?:[\p{L}\p{N}\p{M}_-]*[\p{L}\p{N}\p{M}])?)?$/u);
        expect(slug).to.not.include('--');
      }),
      { numRuns: 2000 },
    );
  });

  it('made from a title leaves room for a number', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 200, maxLength: 2000 }), (title) => {
        expect(Array.from(numberedSlug(slugOfTitle(title), 99_999_999_999)).length).to.be.at.most(255);
      }),
    );
    expect(slugOfTitle('word '.repeat(1000)))
      .to.match(/word$/)
      .and.have.length.at.most(240);
    expect([numberedSlug('a', 1), numberedSlug('a', 2)]).to.deep.equal(['a', 'a-2']);
  });
});

describe('the title of an entry', () => {
  const of = (...fields: readonly (readonly [string, string])[]) =>
    testType({ name: 'x', fields: fields.map(([name, field_type]) => ({ name, field_type: field_type as 'text' })) })
      .definition;

  it('is the title, else the name, else the first text field', () => {
    const values = { title: 'T', name: 'N', label: 'L', body: 'B' };
    expect(titleOf(of(['label', 'text'], ['name', 'text'], ['title', 'text']), values, new Set())).to.equal('T');
    expect(titleOf(of(['label', 'text'], ['name', 'text']), values, new Set())).to.equal('N');
    expect(titleOf(of(['body', 'rich_text'], ['label', 'text']), values, new Set())).to.equal('L');
    expect(titleOf(of(['title', 'json'], ['label', 'text']), { title: [], label: 'L' }, new Set())).to.equal('L');
    expect(titleOf(of(['body', 'rich_text']), values, new Set())).to.equal(undefined);
  });

  it('is undefined when it is blank or hidden', () => {
    expect(titleOf(of(['title', 'text']), { title: ' ' }, new Set())).to.equal(undefined);
    expect(titleOf(of(['title', 'text']), { title: 'T' }, new Set(['title']))).to.equal(undefined);
  });
});
