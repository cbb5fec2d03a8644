import { expect } from 'chai';
import { deleteExpired } from '../../../infrastructure/postgres/delete-expired.ts';
import { useDatabase } from '../../support/database.ts';

describe('the deletion of expired rows', () => {
  const database = useDatabase();

  it('deletes at most 1,000 rows by one statement, and keeps rows that are valid', async () => {
    const db = database.db();
    await db.query('create table expiring (id integer primary key, expires_at timestamptz not null)');
    await db.query(`insert into expiring select n, timestamptz '2026-01-01' from generate_series(1, 2500) n`);
    await db.query(`insert into expiring values (0, timestamptz '2026-03-01')`);
    const deleted: number[] = [];
    const execute: typeof db.execute = async (...statement) => {
      const rows = await db.execute(...statement);
      deleted.push(rows);
      return rows;
    };
    const now = new Date('2026-02-01T00:00:00Z');
    expect(await deleteExpired({ table: 'expiring', key: 'id', now }, { database: { execute } })).to.equal(2500);
    expect(deleted).to.deep.equal([1000, 1000, 500]);
    expect(await db.query('select id from expiring')).to.deep.equal([{ id: 0 }]);
    await db.query('drop table expiring');
  });
});
