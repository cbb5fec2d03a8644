import { expect } from 'chai';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
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
      expect(await asked, 'suspended').to.equal(true);
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

  it('counts a server as reachable that ends the statement because it takes too long', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
        socket.on('data', (data) => {
          const isCheck = data.includes('select 1');
          const answer = isCheck
            ? message('E', Buffer.from('SERROR\0VERROR\0C57014\0Mcanceling statement due to statement timeout\0\0'))
            : message('C', Buffer.from('SET\0'));
          socket.write(Buffer.concat([answer, READY]));
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const check = openDatabaseCheck({ url: `postgres://someone:secret@127.0.0.1:${String(port)}/any` });
    try {
      expect(await check.isReachable()).to.equal(true);
    } finally {
      await check.close();
      server.close();
    }
  });
});

/** A message of the PostgreSQL protocol. */
function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** The server waits for the next statement. */
const READY = message('Z', Buffer.from('I'));
