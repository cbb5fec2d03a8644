import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Locks a data directory until this process ends, because a second quickstart would stop the database of the first. The
 * lock is a listening socket: the operating system releases it however the process ends, so that a crashed process
 * never blocks a start.
 * @throws Error when another process on this machine holds the lock
 */
export async function lockDataDirectory(directory: string): Promise<void> {
  const address = addressOf(realpathSync(directory));
  const server = (await listen(address)) ?? ((await isHeld(address)) ? undefined : await listenOnStaleFile(address));
  if (!server)
    throw new Error(`another Palimpsest process uses ${directory}: stop it first, or set another SVC_DATA_DIR`);
  server.unref();
}

/**
 * On Linux and Windows the address disappears with its process; elsewhere it is a socket file that a crash leaves
 * behind.
 */
function addressOf(directory: string): string {
  const name = `palimpsest-${createHash('sha256').update(directory).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

/** @returns undefined when the address is in use */
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

/** Removes the socket file of a process that no longer runs. */
function listenOnStaleFile(address: string): Promise<Server | undefined> {
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
