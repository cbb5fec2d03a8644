import { expect } from 'chai';
import { codeOf } from '../../domain/code-of.ts';

describe('the code of an error', () => {
  it('is its text', () => {
    expect(codeOf(Object.assign(new Error('gone'), { code: 'ENOENT' }))).to.equal('ENOENT');
  });

  it('is undefined when it is no text, or missing', () => {
    for (const error of [Object.assign(new Error('denied'), { code: 7 }), new Error('plain'), 'text', null, undefined])
      expect(codeOf(error)).to.equal(undefined);
  });
});
