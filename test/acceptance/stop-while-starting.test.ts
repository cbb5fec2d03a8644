import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useDatabase } from '../support/database.ts';
import { useDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { launchServiceProcess, startServiceProcess } from '../support/process.ts';
import { testEnvironment } from '../support/service.ts';

describe('a process that is still starting', function () {
  this.timeout(180_000);
  const directory = useDirectory();
  const database = useDatabase();
  const environment = () => testEnvironment(database.url(), directory());

  /** Starts a process that waits for a lock of the test; signals it, then lets it continue. */
  async function stopWhileWaiting(
    lock: string,
    signal: NodeJS.Signals,
  ): Promise<{ code: number | null; output: string }> {
    const client = await database.db().connect();
    await client.query('begin');
    await client.query(lock);
    const { child, exited, output } = launchServiceProcess(environment());
    await eventually(
      async () => {
        const [row] = await database.db().query<{ waiting: number }>(
          `select count(*) as waiting from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        expect(row?.waiting, output()).to.be.greaterThan(0);
      },
      { timeoutMs: 60_000 },
    );
    child.kill(signal);
    // Many steps of the start remain, so the process sees the signal before it could listen.
    await client.query('rollback');
    await client.end();
    return { code: await exited, output: output() };
  }

  async function heldLeases(): Promise<readonly string[]> {
    const rows = await database
      .db()
      .query<{ name: string }>('select name from operational.leases where expires_at > clock_timestamp()');
    return rows.map(({ name }) => name);
  }

  it('ends with 0 on SIGTERM, releases its leases and never logs that it listens', async () => {
    // An installation, so that the next start has tables to wait for.
    await (await startServiceProcess(environment())).end('SIGTERM');
    const { code, output } = await stopWhileWaiting(
      'lock table rm_platform.feature_configurations in access exclusive mode',
      'SIGTERM',
    );
    expect(code, output).to.equal(0);
    expect(output).to.not.contain('"message":"listening"').and.not.contain('"level":"error"');
    expect(await heldLeases()).to.deep.equal([]);
  });

  it('ends with 0 on SIGINT before its stores are open', async () => {
    const { code, output } = await stopWhileWaiting(
      'lock table operational.migrations in access exclusive mode',
      'SIGINT',
    );
    expect(code, output).to.equal(0);
    expect(output).to.not.contain('"message":"listening"');
  });

  it('closes everything and exits with 1 when a step after the stores fails', async () => {
    const key = join(directory(), 'broken_key.json');
    await writeFile(key, '{"keys":[]}', { mode: 0o600 });
    const { exited, output } = launchServiceProcess({ ...environment(), JWT_KEY_PATH: key });
    expect(await exited, output()).to.equal(1);
    expect(output()).to.contain('JWT_KEY_PATH');
    expect(await heldLeases()).to.deep.equal([]);
  });
});
