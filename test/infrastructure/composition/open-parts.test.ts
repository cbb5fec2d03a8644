import { expect } from 'chai';
import { openParts } from '../../../infrastructure/composition/open-parts.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('openParts', () => {
  it('closes all parts in reverse order, once', async () => {
    const closed: string[] = [];
    const opened = await openParts(({ add }) => {
      for (const part of ['first', 'second']) add(() => void closed.push(part));
      return Promise.resolve({ value: 7 });
    });
    expect(opened.value).to.equal(7);
    await opened.close();
    await opened.close();
    expect(closed).to.deep.equal(['second', 'first']);
  });

  it('closes the open parts when a later step fails, and fails with the error of the step', async () => {
    const closed: string[] = [];
    const failed = await rejectionOf(
      openParts(async ({ add }) => {
        add(() => void closed.push('first'));
        add(() => Promise.reject(new Error('does not close')));
        await Promise.reject(new Error('does not open'));
        return {};
      }),
    );
    expect(closed).to.deep.equal(['first']);
    expect(failed).to.be.an('error').with.property('message', 'does not open');
  });
});
