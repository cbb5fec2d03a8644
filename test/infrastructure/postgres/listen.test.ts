import { expect } from 'chai';
import { openListener } from '../../../infrastructure/postgres/listen.ts';
import { useDatabase } from '../../support/database.ts';
import { gate } from '../../support/gate.ts';

describe('a connection that listens', () => {
  const database = useDatabase();

  it('adds no listener to its signal with each reconnection', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    let connected = gate();
    const listener = openListener({
      database: database.db(),
      channels: ['news'],
      onNotification: () => undefined,
      onConnect: () => {
        connected.open();
      },
      retryDelayMs: 0,
    });
    await listener.ready;
    for (let reconnections = 0; reconnections < 15; reconnections += 1) {
      connected = gate();
      const client = listener.client();
      if (!client) throw new Error('it is not connected');
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      // The server ends the connection, as a restart or a failover does.
      await database.db().query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await connected.opened;
    }
    await listener.close();
    process.off('warning', onWarning);
    expect(warnings.map(({ message }) => message)).to.deep.equal([]);
  });
});
