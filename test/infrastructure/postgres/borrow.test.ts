import { expect } from 'chai';
import { isTransient } from '../../../application/ports/transient-errors.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { runAs, useShareOf } from '../../../infrastructure/postgres/work-class.ts';
import { useDatabase } from '../../support/database.ts';

describe('the connections of a database', () => {
  const test = useDatabase();

  /** Runs work as a request of the tenant. */
  const requestOf = <T>(tenant: string, work: () => Promise<T>): Promise<T> =>
    runAs('read', () => {
      useShareOf(tenant);
      return work();
    });

  for (const kind of ['transaction', 'outerTransaction'] as const)
    it(`are not all used by the requests of one tenant (${kind})`, async () => {
      const database = openDatabase({ url: test.url(), maxConnections: 8, connectTimeoutMs: 2_000 });
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      let begun = 0;
      const hold = () =>
        database[kind](async (tx) => {
          await tx.query('select 1');
          begun += 1;
          await ended;
        });
      try {
        const held = Array.from({ length: 12 }, () => requestOf('busy', hold));
        const one = await requestOf('other', () => database[kind]((tx) => tx.query('select 1 as one')));
        expect(one).to.deep.equal([{ one: 1 }]);
        expect(await database[kind]((tx) => tx.query('select 2 as one'))).to.deep.equal([{ one: 2 }]);
        expect(begun).to.be.at.most(6);
        end();
        await Promise.all(held);
        expect(begun).to.equal(12);
      } finally {
        end();
        await database.close();
      }
    });

  it('are given back to the tenant after a failure, and refused after a wait', async () => {
    const database = openDatabase({ url: test.url(), maxConnections: 1, connectTimeoutMs: 1_000 });
    const isRefused = (work: Promise<unknown>): Promise<boolean> =>
      work.then(
        () => false,
        (error: unknown) => isTransient(error),
      );
    try {
      expect(await isRefused(requestOf('a', () => database.query('select 1 / 0')))).to.equal(false);
      await requestOf('a', async () => {
        await database.transaction(async () => {
          expect(await isRefused(database.query('select 1'))).to.equal(true);
        });
        expect(await database.query('select 1 as one')).to.deep.equal([{ one: 1 }]);
      });
    } finally {
      await database.close();
    }
  });
});
