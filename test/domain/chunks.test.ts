import { expect } from 'chai';
import { chunks } from '../../domain/chunks.ts';

describe('the parts of a list', () => {
  it('have its items in order, at most as many as asked for', () => {
    expect([...chunks([1, 2, 3, 4, 5], 2)]).to.deep.equal([[1, 2], [3, 4], [5]]);
    expect([...chunks([1, 2], 2)]).to.deep.equal([[1, 2]]);
    expect([...chunks([], 2)]).to.deep.equal([]);
  });
});
