import { expect } from 'chai';
import { type OpenStores, openStores } from '../../../infrastructure/composition/platform/open-stores.ts';
import { loadSettings } from '../../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../../infrastructure/configuration/read-settings.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { useDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { testEnvironment } from '../../support/service.ts';

const LEASE_MS = 600;

describe('the stores of a process', () => {
  const database = useDatabase();
  let stores: OpenStores | undefined;
  const logger = recordingLogger();
  afterEach(async () => {
    await stores?.close();
  });
  const open = async (): Promise<OpenStores> => {
    const { settings } = loadSettings([
      environmentLayer({
        ...testEnvironment(database.url(), '/nowhere'),
        DATABASE_MAX_CONNECTIONS: '3',
        SVC_LEASE_MS: String(LEASE_MS),
      }),
    ]);
    return (stores = await openStores({ settings, logger }));
  };

  it('keep a lease while the main pool is exhausted', async () => {
    const { leases, database: main } = await open();
    const lease = await leases.acquire('projection/content', new AbortController().signal);
    const taken = await Promise.all(Array.from({ length: 3 }, () => main.pool.connect()));
    const began = performance.now();
    const starved = main.query('select 1');
    await eventually(() => {
      expect(performance.now() - began).to.be.above(LEASE_MS * 3);
    });
    expect(main.pool.waitingCount).to.equal(1);
    expect(lease.signal.aborted).to.equal(false);
    const watching = openDatabase({ url: database.url(), maxConnections: 1 });
    const [row] = await watching.query<{ epoch: number; held: boolean }>(
      'select epoch, expires_at > clock_timestamp() as held from operational.leases where name = $1',
      ['projection/content'],
    );
    await watching.close();
    expect(row).to.deep.equal({ epoch: lease.epoch, held: true });
    for (const client of taken) client.release();
    await starved;
    await lease.release();
  });

  it('end every connection before close resolves', async () => {
    const { database: main, leases } = await open();
    let opened = 0;
    let ended = 0;
    for (const pool of [main.pool, (stores as OpenStores).leasePool]) {
      pool.on('connect', (client) => {
        opened += 1;
        client.once('end', () => (ended += 1));
      });
    }
    await Promise.all(Array.from({ length: 30 }, () => main.query('select pg_sleep(0.01)')));
    await (await leases.acquire('x', new AbortController().signal)).release();
    await stores?.close();
    stores = undefined;
    expect(opened).to.be.above(0);
    expect(ended).to.equal(opened);
    expect(logger.lines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
  });
});
