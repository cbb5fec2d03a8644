import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { createPasswords } from '../../../infrastructure/crypto/passwords.ts';

describe('password hashes', () => {
  const passwords = createPasswords({ cost: 10, threads: 1 });
  after(() => passwords.close());

  it('are bcrypt, salted, and match their password alone', async () => {
    const [hash, again] = [await passwords.hash('Correct-Horse-7'), await passwords.hash('Correct-Horse-7')];
    expect(hash).to.match(/^\$2b\$10\$.{53}$/).and.to.not.equal(again);
    expect(await passwords.verify('Correct-Horse-7', hash)).to.equal(true);
    expect(await passwords.verify('Correct-Horse-8', hash)).to.equal(false);
  });

  it('of nobody match nothing, in about the time of a real one', async () => {
    const hash = await passwords.hash('Correct-Horse-7');
    const timed = async (against: string | undefined) => {
      const start = performance.now();
      expect(await passwords.verify('Wrong-Horse-7', against)).to.equal(false);
      return performance.now() - start;
    };
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      known.push(await timed(hash));
      unknown.push(await timed(undefined));
    }
    const median = (times: number[]) => times.toSorted((a, b) => a - b)[7]!;
    expect(median(unknown) / median(known)).to.be.within(0.4, 2.5);
  });

  it('are made beside the event loop, which goes on turning', async () => {
    let turns = 0;
    let done = false;
    const hashing = Promise.all(Array.from({ length: 4 }, () => passwords.hash('Correct-Horse-7'))).then(() => {
      done = true;
    });
    let longest = 0;
    for (let last = performance.now(); !done; turns += 1) {
      await turn();
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    await hashing;
    expect(turns).to.be.above(100);
  });

  it('are refused at once when too many wait', async () => {
    const busy = createPasswords({ cost: 12, threads: 1 });
    const answers = Promise.allSettled(Array.from({ length: 260 }, () => busy.hash('x')));
    await busy.hash('x').then(() => expect.fail('queued'), (error: unknown) => {
      expect(error).to.include({ code: 'unavailable', status: 503 });
    });
    await busy.close();
    await answers;
  });
});
