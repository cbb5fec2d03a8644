import { expect } from 'chai';
import { createUnappliedStreams } from '../../../infrastructure/cli/unapplied-streams.ts';

describe('the exit code of rebuild and replay', () => {
  it('is 0 when every event was applied, and 1 when a stream lacks events', () => {
    const streams = createUnappliedStreams();
    expect(streams.report()).to.equal(0);
    streams.add({ projection: 'content', stream: 'entry-default.1', revision: 4, reason: 'division by zero' });
    expect(streams.report()).to.equal(1);
  });
});
