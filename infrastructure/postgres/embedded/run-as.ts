import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** How to start a PostgreSQL program. PostgreSQL refuses to run as root, so root starts it as another user. */
export type RunAs = {
  /** Owner of the data directory; undefined means the user of this process. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** Wraps a command line. `dieWithParent`: the server stops when this process is killed. */
  wrap(
    program: string,
    args: readonly string[],
    options: { readonly dieWithParent: boolean },
  ): { readonly file: string; readonly args: readonly string[]; readonly uid?: number; readonly gid?: number };
};

/**
 * Chooses how to start programs. As root with `setpriv` (util-linux) the server runs as an unprivileged user that may
 * traverse directories it has no access to, so that an installation in a private home directory works. Without
 * `setpriv` it runs as that user without this right.
 */
export async function chooseRunAs(): Promise<RunAs> {
  const setpriv =
    process.platform === 'linux' &&
    (await run('setpriv', ['--version']).then(
      () => true,
      () => false,
    ));
  if (process.getuid?.() !== 0) {
    return {
      owner: undefined,
      wrap: (program, args, { dieWithParent }) =>
        setpriv && dieWithParent
          ? { file: 'setpriv', args: ['--pdeathsig', 'INT', program, ...args] }
          : { file: program, args },
    };
  }
  const owner = await unprivilegedUser();
  const { uid, gid } = owner;
  const traverses =
    setpriv &&
    (await run('setpriv', [...traversalArguments(owner), 'true']).then(
      () => true,
      () => false,
    ));
  return {
    owner,
    wrap: (program, args, { dieWithParent }) =>
      traverses
        ? {
            file: 'setpriv',
            args: [...traversalArguments(owner), ...(dieWithParent ? ['--pdeathsig', 'INT'] : []), program, ...args],
          }
        : { file: program, args, uid, gid },
  };
}

/** Arguments that grant the capabilities to traverse directories on the path to the programs and the data. */
function traversalArguments({ uid, gid }: { uid: number; gid: number }): readonly string[] {
  const capabilities = '+dac_override,+dac_read_search';
  // Without this bit, access(2) checks as an unprivileged user without capabilities, and PostgreSQL calls it for its
  // own programs.
  return [
    '--securebits=+no_setuid_fixup',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
  ];
}

/** The user `postgres` if it exists, else `nobody`: initdb needs a user with a name. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const user = users.find(([user]) => user === name);
    if (user) return { uid: Number(user[2]), gid: Number(user[3]) };
  }
  throw new Error('PostgreSQL does not run as root and the system has neither a user postgres nor a user nobody');
}
