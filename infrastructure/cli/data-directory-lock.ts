import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Takes a data directory for as long as this process lives: a second quickstart would stop the first one's database. The lock is a listening socket, which the
 * system takes back however the process ends, so that no start is ever refused because of a dead one.
 * @throws Error when another process on this machine holds it
 */
export async function lockDataDirectory(directory: string): Promise<void> {
  const address = addressOf(realpathSync(directory));
  const server = (await listen(address)) ?? ((await isHeld(address)) ? undefined : await listenAnew(address));
  if (!server) throw new Error(`another Palimpsest runs on ${directory}: stop it first, or choose another SVC_DATA_DIR`);
  server.unref();
}

/** Linux and Windows know names that vanish with their owner; elsewhere it is a file that may stay behind. */
function addressOf(directory: string): string {
  const name = `palimpsest-${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

/** @returns undefined when the address is taken */
function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(address, () => {
      resolve(server);
    });
  });
}

function listenAnew(address: string): Promise<Server | undefined> {
  rmSync(address, { force: true });
  return listen(address);
}

function isHeld(address: string): Promise<boolean> {
  if (process.platform === 'linux' || process.platform === 'win32') return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
