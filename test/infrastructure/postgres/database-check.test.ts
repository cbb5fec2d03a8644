import { expect } from 'chai';
import { openDatabaseCheck } from '../../../infrastructure/postgres/database-check.ts';
import { useDatabase } from '../../support/database.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

describe('the check of the database server', () => {
  const database = useDatabase();

  it('finds a server that does not answer, but not one that answers while the process is suspended', async () => {
    const url = new URL(database.url());
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const check = openDatabaseCheck({ url: url.toString() });
    try {
      expect(await check.isReachable()).to.equal(true);
      const asked = check.isReachable();
      await new Promise((resolve) => setImmediate(resolve));
      const end = performance.now() + 2_500;
      while (performance.now() < end);
      expect(await asked, 'standing still').to.equal(true);
      proxy.freeze();
      // A machine that is too busy to tell gives the benefit of the doubt, so ask until it can tell.
      let isFound = false;
      for (let n = 0; n < 20 && !isFound; n += 1) isFound = !(await check.isReachable());
      expect(isFound, 'frozen').to.equal(true);
    } finally {
      proxy.thaw();
      await check.close();
      await proxy.close();
    }
  });
});
