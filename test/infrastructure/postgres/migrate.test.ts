import { expect } from 'chai';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { migrate } from '../../../infrastructure/postgres/migrate.ts';
import { migrations as shipped } from '../../../infrastructure/postgres/migrations/index.ts';
import type { Migration } from '../../../infrastructure/postgres/migrations/migration.ts';
import { useDatabase } from '../../support/database.ts';

describe('migrations', () => {
  const database = useDatabase();
  const steps: readonly Migration[] = [
    ...shipped,
    { id: '9001-second', sql: `create table operational.probe_second as select '{"a": "?"}'::jsonb ? 'a' as found` },
    {
      id: '9000-first',
      sql: 'create table operational.probe_first (n int); insert into operational.probe_first values (1), (2)',
    },
  ];

  it('run once, in the order of their ids, when several processes start', async () => {
    const others = Array.from({ length: 4 }, () => openDatabase({ url: database.url(), maxConnections: 2 }));
    const ran = await Promise.all(others.map((other) => migrate(other, steps)));
    expect(ran.flat()).to.deep.equal(['9000-first', '9001-second']);
    expect(await database.db().query('select n from operational.probe_first order by n')).to.deep.equal([
      { n: 1 },
      { n: 2 },
    ]);
    expect(await database.db().query('select found from operational.probe_second')).to.deep.equal([{ found: true }]);
    await Promise.all(others.map((other) => other.close()));
  });

  it('continue after a process that crashed during a migration', async () => {
    await database.db().query('update operational.migrations_lock set is_locked = 1');
    expect(
      await migrate(database.db(), [
        ...steps,
        { id: '9002-third', sql: 'create table operational.probe_third (n int)' },
      ]),
    ).to.deep.equal(['9002-third']);
  });

  it('leave no effect of a failed migration', async () => {
    const failing = { id: '9003-half', sql: 'create table operational.probe_half (n int); select 1 / 0' };
    const error = await migrate(database.db(), [...steps, { id: '9002-third', sql: '' }, failing]).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(String(error)).to.match(/division by zero/);
    expect(await database.db().query(`select to_regclass('operational.probe_half') as found`)).to.deep.equal([
      { found: null },
    ]);
  });
});
