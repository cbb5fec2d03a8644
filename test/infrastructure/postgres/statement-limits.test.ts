import { expect } from 'chai';
import { isTransient } from '../../../application/ports/transient-errors.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { runAs } from '../../../infrastructure/postgres/work-class.ts';
import { useDatabase } from '../../support/database.ts';

describe('the time limits of statements and transactions', () => {
  const test = useDatabase();

  /** @returns whether the work failed so that a later attempt may succeed; undefined when it did not fail */
  const failure = (work: Promise<unknown>): Promise<boolean | undefined> =>
    work.then(
      () => undefined,
      (error: unknown) => isTransient(error),
    );

  it('depend on the class of the work, on one connection, inside and outside transactions', async () => {
    const database = openDatabase({
      url: test.url(),
      maxConnections: 1,
      statementLimits: { read: 50, write: 100, background: 60_000 },
    });
    const shown = async (): Promise<string | undefined> => {
      const [row] = await database.query<{ statement_timeout: string }>('show statement_timeout');
      return row?.statement_timeout;
    };
    try {
      expect(await failure(runAs('read', () => database.query('select pg_sleep(10)')))).to.equal(true);
      expect(
        await failure(runAs('write', () => database.transaction((tx) => tx.query('select pg_sleep(10)')))),
      ).to.equal(true);
      expect(await failure(database.query('select pg_sleep(0.2)'))).to.equal(undefined);
      expect(await runAs('read', shown)).to.equal('50ms');
      expect(await runAs('write', shown)).to.equal('100ms');
      expect(await shown()).to.equal('1min');
      expect(await runAs('unlimited', shown)).to.equal('0');
      const slow = runAs('read', () =>
        database.transaction((tx) => tx.query('select pg_sleep(0.2)'), { workClass: 'unlimited' }),
      );
      expect(await failure(slow)).to.equal(undefined);
    } finally {
      await database.close();
    }
  });

  it('end a statement that waits for a lock, except in unlimited work', async () => {
    const database = openDatabase({ url: test.url(), maxConnections: 2, lockTimeoutMs: 50 });
    try {
      await database.query('create table held (id integer)');
      await database.transaction(async (tx) => {
        await tx.query('lock table held in access exclusive mode');
        expect(await failure(database.query('select * from held'))).to.equal(true);
        const shown = await database.transaction((other) => other.query('show lock_timeout'), {
          workClass: 'unlimited',
        });
        expect(shown).to.deep.equal([{ lock_timeout: '0' }]);
      });
    } finally {
      await database.close();
    }
  });

  it('abort a transaction that sends nothing, but not an outer transaction whose work goes on', async () => {
    const database = openDatabase({ url: test.url(), maxConnections: 1, idleTransactionMs: 300 });
    const other = test.db();
    try {
      const idle = database.transaction(async (tx) => {
        await other.query('select pg_sleep(1)');
        await tx.query('select 1');
      });
      expect(await failure(idle)).to.equal(true);
      const busy = database.outerTransaction(async (tx) => {
        await database.query('select pg_sleep(1)');
        return tx.query<{ one: number }>('select 1 as one');
      });
      expect(await busy).to.deep.equal([{ one: 1 }]);
    } finally {
      await database.close();
    }
  });

  it('refuse work that gets no connection in time', async () => {
    const database = openDatabase({ url: test.url(), maxConnections: 1, connectTimeoutMs: 1_000 });
    try {
      await database.transaction(async () => {
        expect(await failure(database.query('select 1'))).to.equal(true);
      });
    } finally {
      await database.close();
    }
  });
});
