import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A package of `node_modules` with its README and CHANGELOG. */
export type DemoPackage = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly homepage: string | undefined;
  readonly documents: readonly {
    readonly kind: 'readme' | 'changelog';
    readonly title: string;
    readonly body: string;
  }[];
};

/** A longer text does not fit into one request. */
const MAX_TEXT_BYTES = 700_000;

/** Reads every installed package that has a README or CHANGELOG; one package is in memory at a time. */
export async function* installedPackages(nodeModules: string): AsyncIterable<DemoPackage> {
  for (const directory of await packageDirectories(nodeModules)) {
    const found = await readPackage(directory);
    if (found && found.documents.length > 0) yield found;
  }
}

/** Directories of packages, including scoped ones, in order of their names. */
export async function packageDirectories(nodeModules: string): Promise<readonly string[]> {
  const entries = await readdir(nodeModules, { withFileTypes: true });
  const plain = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  const nested = await Promise.all(
    plain.map(async ({ name }) =>
      name.startsWith('@') ? (await readdir(join(nodeModules, name))).map((inner) => join(name, inner)) : [name],
    ),
  );
  return nested
    .flat()
    .toSorted()
    .map((name) => join(nodeModules, name));
}

async function readPackage(directory: string): Promise<DemoPackage | undefined> {
  const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const manifest = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const { name, version, description, license, homepage } = manifest;
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  return {
    name,
    version,
    description: typeof description === 'string' ? description : '',
    license: typeof license === 'string' ? license : 'unknown',
    homepage:
      typeof homepage === 'string' && URL.canParse(homepage) && /^https?:/.test(homepage) ? homepage : undefined,
    documents: await readDocuments(directory, name),
  };
}

async function readDocuments(directory: string, name: string): Promise<DemoPackage['documents']> {
  const files = (await readdir(directory)).filter((file) => /^(readme|changelog)(\.(md|markdown|txt))?$/i.test(file));
  const documents = await Promise.all(
    files.map(async (file) => {
      const path = join(directory, file);
      const { size } = await stat(path);
      if (size === 0 || size > MAX_TEXT_BYTES) return [];
      const kind = /^readme/i.test(file) ? ('readme' as const) : ('changelog' as const);
      // PostgreSQL text cannot contain NUL.
      const body = (await readFile(path, 'utf8')).replaceAll('\u0000', '');
      return body.trim() === '' ? [] : [{ kind, title: `${name} ${kind}`, body }];
    }),
  );
  return documents.flat();
}
