import { expect } from 'chai';
import { mochaArguments } from '../../ops/test/specs.mjs';

describe('the arguments of `npm test`', () => {
  it('run the whole suite when they name no test', () => {
    expect(mochaArguments(['--retries', '1'])).to.deep.equal(['test/**/*.test.ts', '--retries', '1']);
    expect(mochaArguments(['--grep', 'test/ of a thing.ts'])[0]).to.equal('test/**/*.test.ts');
  });

  it('run the files, folders and patterns that they name', () => {
    expect(mochaArguments(['test/ops/specs.test.ts', './test/ops/', 'test/api/**/*.test.ts', '--bail'])).to.deep.equal([
      'test/ops/specs.test.ts',
      './test/ops/**/*.test.ts',
      'test/api/**/*.test.ts',
      '--bail',
    ]);
  });

  it('are refused when they name a file that does not exist', () => {
    expect(() => mochaArguments(['test/missing.test.ts'])).to.throw(
      'there is no test file or folder test/missing.test.ts',
    );
  });
});
