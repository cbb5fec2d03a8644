import { expect } from 'chai';
import fc from 'fast-check';
import { createSearchFunction } from '../../../../projections/content/entries/search-vector.ts';
import { useDatabase } from '../../../support/database.ts';

describe('the indexed words of texts', () => {
  const database = useDatabase();
  before(() => database.db().transaction((tx) => createSearchFunction(tx, { schema: 'public' })));

  const words = async (...texts: readonly (string | null)[]) => {
    const [row] = await database
      .db()
      .query<{ words: readonly string[] }>('select tsvector_to_array(public._search_vector($1::text[])) as words', [
        texts,
      ]);
    return row!.words;
  };

  it('are lower case, without markup, from all texts', async () => {
    expect(await words('Hello <b class="x">World</b>', null, 'ÄRGER &nbsp; über')).to.deep.equal([
      'hello',
      'world',
      'ärger',
      'über',
    ]);
    expect(await words(null)).to.deep.equal([]);
    expect(await words()).to.deep.equal([]);
  });

  it('include words after a very long run of characters, and words of every text above the size limit', async () => {
    expect(await words(`data:${'QUJD'.repeat(5000)} \nafterwards`)).to.include('afterwards');
    const long = (word: string) => `${word} ${'filler '.repeat(40_000)}`;
    expect(await words(long('one'), long('two'), 'three')).to.include.members(['one', 'two', 'three']);
    // Fields without a text take no share of the limit, so adding a field changes no words.
    const cut = `${Array.from({ length: 30_000 }, (_, n) => `w${n}`).join(' ')} end`;
    expect(await words(cut, null, null)).to.deep.equal(await words(cut));
  });

  it('are computed in bounded time and space for any text', async function () {
    this.timeout(60_000);
    const pieces = [
      'a',
      '1',
      '_',
      '-',
      '.',
      '/',
      '@',
      ':',
      '<',
      '&',
      ';',
      '~',
      '+',
      'é',
      '字',
      ' ',
      '\n',
      'http://',
      'www.',
      '-1.5e-',
      '\u{1f600}',
    ];
    const started = performance.now();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 50_000 }),
        async (pattern, times) => {
          await words(pattern.join('').repeat(times).slice(0, 250_000), 'end');
        },
      ),
      {
        numRuns: 25,
        examples: [
          [['a', '_'], 50_000],
          [['@', '1', 'a'], 50_000],
          [['-1.5e-', 'a'], 50_000],
        ],
      },
    );
    // Compounds of two-letter words produce the most words: three for each compound.
    const compounds = Array.from(
      { length: 60_000 },
      (_, n) => `${String.fromCodePoint(0x4e00 + (n % 20_000))}-${String.fromCodePoint(0x4e00 + ((n * 7) % 20_000))}`,
    ).join(' ');
    expect(await words(compounds)).to.have.length.above(10_000);
    // With quadratic time, a quarter of this text alone took 20 seconds.
    expect(performance.now() - started).to.be.below(45_000);
  });
});
