import { expect } from 'chai';
import { openPostgresSignals } from '../../../infrastructure/signals/postgres.ts';
import { signalsContract } from '../../contract/signals.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';

describe('signals over LISTEN and NOTIFY', () => {
  const database = useDatabase();

  signalsContract(async () => {
    const here = openPostgresSignals({ database: database.db() });
    const there = openPostgresSignals({ database: database.db() });
    await Promise.all([here.ready, there.ready]);
    return {
      here,
      there,
      async close() {
        await Promise.all([here.close(), there.close()]);
      },
    };
  });

  it('listen again after their connection was terminated, and are delivered locally meanwhile', async () => {
    const here = openPostgresSignals({ database: database.db() });
    const there = openPostgresSignals({ database: database.db() });
    await Promise.all([here.ready, there.ready]);
    const own: string[] = [];
    const received: string[] = [];
    here.subscribe('a', (payload) => own.push(payload));
    there.subscribe('a', (payload) => received.push(payload));
    await database
      .db()
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike '%listen%' and pid <> pg_backend_pid()`,
      );
    here.publish('a', 'at home');
    await eventually(() => {
      expect(own).to.include('at home');
    });
    await eventually(
      () => {
        here.publish('a', 'again');
        expect(received).to.include('again');
      },
      { everyMs: 50 },
    );
    await Promise.all([here.close(), there.close()]);
  });
});
