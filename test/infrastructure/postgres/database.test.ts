import { expect } from 'chai';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { isTransient } from '../../../application/ports/transient-errors.ts';
import { openDatabase } from '../../../infrastructure/postgres/database.ts';

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
