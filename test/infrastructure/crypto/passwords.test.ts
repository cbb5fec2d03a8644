import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { createCommonPasswords } from '../../../infrastructure/crypto/common-passwords.ts';
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

describe('password hashes by argon2id', () => {
  const [argon2id, bcrypt] = [createPasswords({ algorithm: 'argon2id', memoryKiB: 1024, cost: 5, threads: 1 }), createPasswords({ cost: 5, threads: 1 })];
  after(() => Promise.all([argon2id.close(), bcrypt.close()]));

  it('are salted, and match their password alone, also one longer than bcrypt sees', async () => {
    const long = 'Correct-Horse-7-'.repeat(8);
    const [hash, again] = [await argon2id.hash(long), await argon2id.hash(long)];
    expect(hash).to.match(/^\$argon2id\$v=19\$m=1024,p=1,t=1\$[\w+/]{22}\$[\w+/]{43}$/).and.to.not.equal(again);
    expect(await argon2id.verify(long, hash)).to.equal(true);
    expect(await argon2id.verify(`${long.slice(0, -1)}!`, hash)).to.equal(false);
    expect(await argon2id.verify(long, undefined)).to.equal(false);
  });

  it('of either kind verify whatever new ones are, and are outdated where algorithm or cost are others', async () => {
    const hashes = [await argon2id.hash('Correct-Horse-7'), await bcrypt.hash('Correct-Horse-7')] as const;
    for (const passwords of [argon2id, bcrypt]) {
      for (const hash of hashes) expect([await passwords.verify('Correct-Horse-7', hash), await passwords.verify('Correct-Horse-8', hash)]).to.deep.equal([true, false]);
    }
    expect([argon2id, bcrypt].map((passwords) => hashes.map((hash) => passwords.isOutdated(hash)))).to.deep.equal([[false, true], [true, false]]);
    const dearer = createPasswords({ algorithm: 'argon2id', memoryKiB: 2048 });
    expect(dearer.isOutdated(hashes[0])).to.equal(true);
    await dearer.close();
  });

  it('match no longer password, where bcrypt would look at its beginning only', async () => {
    const cut = 'x'.repeat(72);
    const hash = await bcrypt.hash(cut);
    expect([await bcrypt.verify(cut, hash), await bcrypt.verify(`${cut}y`, hash), await bcrypt.verify(`${cut}\u0000`, hash)]).to.deep.equal([true, false, false]);
  });

  it('take the time of both kinds once an older one was met, so that the time tells nothing of an account', async () => {
    const mixed = createPasswords({ algorithm: 'argon2id', memoryKiB: 1024, threads: 1 });
    const old = createPasswords({ cost: 10, threads: 1 });
    const [hash, former] = [await mixed.hash('Correct-Horse-7'), await old.hash('Correct-Horse-7')];
    await mixed.verify('x', former);
    const median = async (against: string | undefined) => {
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const start = performance.now();
        await mixed.verify('Wrong-Horse-7', against);
        times.push(performance.now() - start);
      }
      return times.toSorted((a, b) => a - b)[4]!;
    };
    const dear = await median(former);
    for (const against of [hash, undefined]) expect((await median(against)) / dear).to.be.within(0.4, 2.5);
    await Promise.all([mixed.close(), old.close()]);
  });
});

describe('common passwords', () => {
  const isCommon = createCommonPasswords();

  for (const password of ['password', 'Password', 'QWERTYUIOP', 'Password1234', '!!Dragon-2026', 'Welcome-12345678']) {
    it(`${password} is one`, () => {
      expect(isCommon(password)).to.equal(true);
    });
  }
  for (const password of ['Correct-Horse-7-battery', 'Private-Horse-9-battery', '', '1234-5678-90-!']) {
    it(`${password} is none`, () => {
      expect(isCommon(password)).to.equal(false);
    });
  }
});
