import { expect } from 'chai';
import { equalSecrets } from '../../../domain/identity/equal-secrets.ts';

describe('equalSecrets', () => {
  it('accepts equal secrets', () => {
    expect(equalSecrets('abc', 'abc')).to.equal(true);
  });

  for (const other of ['abd', 'ab', 'abcd', '']) {
    it(`refuses ${JSON.stringify(other)} for "abc"`, () => {
      expect(equalSecrets(other, 'abc')).to.equal(false);
    });
  }
});
