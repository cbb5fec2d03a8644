import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Names this process among all that ever run: `<host>/<process id>/<machine>-<random>`. */
export function nameInstance(): string {
  return `${hostname()}/${process.pid}/${machine()}-${randomBytes(4).toString('hex')}`;
}

/**
 * Whether the named process surely runs no more: it ran where this one runs, and its process id is free. Anything doubtful (another machine,
 * another container, an id that was given anew) counts as alive: its lease then runs out by itself.
 */
export function isGone(instance: string): boolean {
  const [, pid = '', tail = ''] = instance.split('/');
  const here = machine();
  if (here === '' || !tail.startsWith(`${here}-`) || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** This boot of this kernel, and the namespace that process ids count in; empty where the system does not tell. */
function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return createHash('sha256').update(`${boot}/${readlinkSync('/proc/self/ns/pid')}`).digest('hex').slice(0, 12);
  } catch {
    return '';
  }
}
