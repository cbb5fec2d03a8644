import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How to start a PostgreSQL program: PostgreSQL refuses to run as root, so root starts it as somebody else. */
export type RunAs = {
  /** Owner of the data directory; undefined: this process's own user. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** Wraps a command line. `dieWithParent`: the server ends when this process is killed. */
  wrap(program: string, args: readonly string[], options: { readonly dieWithParent: boolean }): { readonly file: string; readonly args: readonly string[]; readonly uid?: number; readonly gid?: number };
};

/**
 * Chooses the way. As root with `setpriv` (util-linux) the server runs as an unprivileged user that keeps the right to walk through
 * directories closed to it, so that an install under a private home works; without `setpriv` it runs as that user plainly.
 */
export async function chooseRunAs(): Promise<RunAs> {
  const setpriv = process.platform === 'linux' && (await run('setpriv', ['--version']).then(() => true, () => false));
  if (process.getuid?.() !== 0) {
    return {
      owner: undefined,
      wrap: (program, args, { dieWithParent }) =>
        setpriv && dieWithParent ? { file: 'setpriv', args: ['--pdeathsig', 'INT', program, ...args] } : { file: program, args },
    };
  }
  const owner = await unprivilegedUser();
  const { uid, gid } = owner;
  const walks = setpriv && (await run('setpriv', [...walking(owner), 'true']).then(() => true, () => false));
  return {
    owner,
    wrap: (program, args, { dieWithParent }) =>
      walks
        ? { file: 'setpriv', args: [...walking(owner), ...(dieWithParent ? ['--pdeathsig', 'INT'] : []), program, ...args] }
        : { file: program, args, uid, gid },
  };
}

/** Capabilities that only open directories on the way to the programs and the data. */
function walking({ uid, gid }: { uid: number; gid: number }): readonly string[] {
  const capabilities = '+dac_override,+dac_read_search';
  // Without the bit, access(2) asks for an unprivileged user without capabilities, and PostgreSQL asks it of its own programs.
  return ['--securebits=+no_setuid_fixup', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', `--inh-caps=${capabilities}`, `--ambient-caps=${capabilities}`];
}

/** `postgres` where the system has it, else `nobody`: initdb wants a user with a name. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const user = users.find(([user]) => user === name);
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) };
  }
  throw new Error('PostgreSQL does not run as root and the system has neither a user postgres nor a user nobody');
}
