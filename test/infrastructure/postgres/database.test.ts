import { expect } from 'chai';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { isTransient } from '../../../application/ports/transient-errors.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { runAs, useShareOf } from '../../../infrastructure/postgres/work-class.ts';
import { useDatabase } from '../../support/database.ts';

/** A message of the PostgreSQL protocol: type, length, body. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

const AUTHENTICATED = message('R', Buffer.from([0, 0, 0, 0]));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

describe('the connection pool of a database', () => {
  it('survives a server that terminates a connection at the moment it is ready', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const database = openDatabase({ url: `postgres://u@127.0.0.1:${String(port)}/d` });
    try {
      for (const work of [() => database.query('select 1'), () => database.transaction((tx) => tx.query('select 1'))]) {
        const error: unknown = await work().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(isTransient(error), String(error)).to.equal(true);
      }
    } finally {
      await database.close();
      server.close();
    }
  });
});

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
