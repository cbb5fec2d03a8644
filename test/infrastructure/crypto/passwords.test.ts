import { expect } from 'chai';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createCommonPasswords } from '../../../infrastructure/crypto/common-passwords.ts';
import { openPasswords } from '../../../infrastructure/crypto/passwords.ts';
import { rejectionOf } from '../../support/rejection.ts';

describe('bcrypt password hashes', () => {
  const passwords = openPasswords({ cost: 10, threads: 1 });
  after(() => passwords.close());

  it('are salted and match only their password', async () => {
    const [hash, again] = [await passwords.hash('Correct-Horse-7'), await passwords.hash('Correct-Horse-7')];
    expect(hash)
      .to.match(/^\$2b\$10\$.{53}$/)
      .and.to.not.equal(again);
    expect(await passwords.verify('Correct-Horse-7', hash)).to.equal(true);
    expect(await passwords.verify('Correct-Horse-8', hash)).to.equal(false);
  });

  it('are compared in about the same time when the account does not exist, without a match', async () => {
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

  it('are computed without blocking the event loop', async () => {
    let turns = 0;
    let done = false;
    const hashing = Promise.all(Array.from({ length: 4 }, () => passwords.hash('Correct-Horse-7'))).then(() => {
      done = true;
    });
    let longest = 0;
    for (let last = performance.now(); !done; turns += 1) {
      await nextTurn();
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    await hashing;
    expect(turns).to.be.above(100);
  });

  it('are refused at once when too many are waiting', async () => {
    const busy = openPasswords({ cost: 12, threads: 1 });
    const answers = Promise.allSettled(Array.from({ length: 260 }, () => busy.hash('x')));
    expect(await rejectionOf(busy.hash('x'))).to.include({ code: 'unavailable', status: 503 });
    await busy.close();
    await answers;
  });
});

describe('argon2id password hashes', () => {
  const [argon2id, bcrypt] = [
    openPasswords({ algorithm: 'argon2id', memoryKiB: 1024, cost: 5, threads: 1 }),
    openPasswords({ cost: 5, threads: 1 }),
  ];
  after(() => Promise.all([argon2id.close(), bcrypt.close()]));

  it('are salted and match only their password, also when it is longer than 72 bytes', async () => {
    const long = 'Correct-Horse-7-'.repeat(8);
    const [hash, again] = [await argon2id.hash(long), await argon2id.hash(long)];
    expect(hash)
      .to.match(/^\$argon2id\$v=19\$m=1024,p=1,t=1\$[\w+/]{22}\$[\w+/]{43}$/)
      .and.to.not.equal(again);
    expect(await argon2id.verify(long, hash)).to.equal(true);
    expect(await argon2id.verify(`${long.slice(0, -1)}!`, hash)).to.equal(false);
    expect(await argon2id.verify(long, undefined)).to.equal(false);
  });

  it('are verified beside bcrypt hashes, and are outdated when the algorithm or the cost changed', async () => {
    const hashes = [await argon2id.hash('Correct-Horse-7'), await bcrypt.hash('Correct-Horse-7')] as const;
    for (const passwords of [argon2id, bcrypt]) {
      for (const hash of hashes)
        expect([
          await passwords.verify('Correct-Horse-7', hash),
          await passwords.verify('Correct-Horse-8', hash),
        ]).to.deep.equal([true, false]);
    }
    expect([argon2id, bcrypt].map((passwords) => hashes.map((hash) => passwords.isOutdated(hash)))).to.deep.equal([
      [false, true],
      [true, false],
    ]);
    const costlier = openPasswords({ algorithm: 'argon2id', memoryKiB: 2048 });
    expect(costlier.isOutdated(hashes[0])).to.equal(true);
    await costlier.close();
  });

  it('do not match a longer password that bcrypt would truncate', async () => {
    const longest = 'x'.repeat(72);
    const hash = await bcrypt.hash(longest);
    expect([
      await bcrypt.verify(longest, hash),
      await bcrypt.verify(`${longest}y`, hash),
      await bcrypt.verify(`${longest}\u0000`, hash),
    ]).to.deep.equal([true, false, false]);
  });

  it('take the time of both kinds once an older one was checked, so that the time reveals nothing about an account', async () => {
    const mixed = openPasswords({ algorithm: 'argon2id', memoryKiB: 1024, threads: 1 });
    const old = openPasswords({ cost: 10, threads: 1 });
    const [hash, outdated] = [await mixed.hash('Correct-Horse-7'), await old.hash('Correct-Horse-7')];
    await mixed.verify('x', outdated);
    const median = async (against: string | undefined) => {
      const times: number[] = [];
      for (let round = 0; round < 9; round += 1) {
        const start = performance.now();
        await mixed.verify('Wrong-Horse-7', against);
        times.push(performance.now() - start);
      }
      return times.toSorted((a, b) => a - b)[4]!;
    };
    const slowest = await median(outdated);
    for (const against of [hash, undefined]) expect((await median(against)) / slowest).to.be.within(0.4, 2.5);
    await Promise.all([mixed.close(), old.close()]);
  });
});

describe('common passwords', () => {
  const isCommon = createCommonPasswords();

  for (const password of ['password', 'Password', 'QWERTYUIOP', 'Password1234', '!!Dragon-2026', 'Welcome-12345678']) {
    it(`include ${password}`, () => {
      expect(isCommon(password)).to.equal(true);
    });
  }
  for (const password of ['Correct-Horse-7-battery', 'Private-Horse-9-battery', '', '1234-5678-90-!']) {
    it(`do not include ${JSON.stringify(password)}`, () => {
      expect(isCommon(password)).to.equal(false);
    });
  }
});
