import { expect } from 'chai';
import { createKeyedTurns } from '../../../application/concurrency/keyed-turns.ts';

describe('turns by key', () => {
  it('run the work of one key one after another, and that of another key at the same time', async () => {
    const turns = createKeyedTurns();
    const steps: string[] = [];
    let end: () => void = () => undefined;
    const first = turns.run('a', async () => {
      steps.push('a begins');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      steps.push('a ends');
    });
    const second = turns.run('a', () => Promise.resolve(steps.push('a again')));
    await turns.run('b', () => Promise.resolve(steps.push('b')));
    expect(steps).to.deep.equal(['a begins', 'b']);
    end();
    await Promise.all([first, second]);
    expect(steps).to.deep.equal(['a begins', 'b', 'a ends', 'a again']);
  });

  it('count the work of a key that runs or waits', async () => {
    const turns = createKeyedTurns();
    const both = [turns.run('a', () => Promise.resolve()), turns.run('a', () => Promise.resolve())];
    expect([turns.count('a'), turns.count('b')]).to.deep.equal([2, 0]);
    await Promise.all(both);
    expect(turns.count('a')).to.equal(0);
  });
});
