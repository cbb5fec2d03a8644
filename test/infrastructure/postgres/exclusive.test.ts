import { expect } from 'chai';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { createExclusive } from '../../../infrastructure/postgres/exclusive.ts';
import { useDatabase } from '../../support/database.ts';

describe('exclusive work', () => {
  const database = useDatabase();

  it('runs one at a time in all processes, and gets database connections while many wait', async () => {
    const processes = Array.from({ length: 3 }, () => openDatabase({ url: database.url(), maxConnections: 2 }));
    let inside = 0;
    let most = 0;
    await Promise.all(
      processes.flatMap((db) => {
        const exclusive = createExclusive({ database: db });
        return Array.from({ length: 15 }, () =>
          exclusive('work', async () => {
            inside += 1;
            most = Math.max(most, inside);
            await db.query('select 1');
            inside -= 1;
          }),
        );
      }),
    );
    expect(most).to.equal(1);
    await Promise.all(processes.map((db) => db.close()));
  });

  it('returns the result or the error of the work, and then runs the next', async () => {
    const exclusive = createExclusive({ database: database.db() });
    const failing = exclusive('work', () => Promise.reject(new Error('no')));
    const next = exclusive('work', () => Promise.resolve(7));
    await failing.then(
      () => expect.fail('answered'),
      (error: unknown) => {
        expect(String(error)).to.contain('no');
      },
    );
    expect(await next).to.equal(7);
  });
});
