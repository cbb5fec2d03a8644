import { expect } from 'chai';
import { splitAt } from '../../../projections/engine/split-at.ts';
import { recorded } from '../../support/open-log.ts';

const events = ['a', 'b', 'X', 'X', 'c', 'X'].map((type, index) =>
  recorded(index + 1, { stream: 'note-default.1', type, data: {} }),
);

describe('splitAt', () => {
  it('makes each boundary a run of its own and keeps the order', () => {
    const runs = splitAt(events, ({ type }) => type === 'X');
    expect(runs.map((run) => run.map(({ type }) => type))).to.deep.equal([['a', 'b'], ['X'], ['X'], ['c'], ['X']]);
  });

  it('returns one run without a boundary and none without events', () => {
    expect(splitAt(events, () => false)).to.deep.equal([events]);
    expect(splitAt([], () => false)).to.deep.equal([]);
  });
});
