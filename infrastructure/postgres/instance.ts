import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../../domain/code-of.ts';

/** @returns a unique name of this process: `<host>/<process id>/<machine>-<random>` */
export function nameInstance(): string {
  return `${hostname()}/${process.pid}/${machine()}-${randomBytes(4).toString('hex')}`;
}

/**
 * Whether the named process is known to have exited: it ran on this machine and no process has its id. In doubt
 * (another machine, another container, an id that was reused) it is considered alive, and its lease expires after its
 * TTL.
 */
export function hasExited(instance: string): boolean {
  const [, pid = '', tail = ''] = instance.split('/');
  const here = machine();
  if (here === '' || !tail.startsWith(`${here}-`) || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Identifies this boot of the kernel and the namespace of process ids; empty when the system does not expose them. */
function machine(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return createHash('sha256')
      .update(`${boot}/${readlinkSync('/proc/self/ns/pid')}`)
      .digest('hex')
      .slice(0, 12);
  } catch {
    return '';
  }
}
