import { expect } from 'chai';
import { MAX_ENTRY_CHARACTERS } from '../../../domain/content/entry-size.ts';
import { checkChangedValues, checkNewValues } from '../../../domain/content/entry-values.ts';
import { testType } from '../../support/content.ts';

describe('the size of an entry', () => {
  const { definition } = testType({
    name: 'note',
    fields: [
      { name: 'a', field_type: 'text' },
      { name: 'b', field_type: 'json' },
    ],
  });
  const half = 'x'.repeat(MAX_ENTRY_CHARACTERS / 2);
  const message = 'the values of an entry must have at most 8388608 characters together';

  it('is bounded over all fields, also when they are written one after another', () => {
    expect(checkNewValues(definition, { a: half }).problems).to.deep.equal([]);
    expect(checkNewValues(definition, { a: 'x', b: [half, half] }).problems).to.deep.equal([{ field: 'b', message }]);
    expect(checkChangedValues(definition, { a: half }, { b: { text: half } }).problems).to.deep.equal([
      { field: 'b', message },
    ]);
  });

  it('may shrink when an earlier build let it grow above the bound', () => {
    const stored = { a: half, b: [half, half] };
    expect(checkChangedValues(definition, stored, { b: [half] }).problems).to.deep.equal([]);
    expect(checkChangedValues(definition, stored, { a: `${half}x` }).problems).to.deep.equal([{ field: 'a', message }]);
  });
});
