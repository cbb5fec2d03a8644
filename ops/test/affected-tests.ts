import { posix } from 'node:path';

/** Files that every test depends on: a change of one of them affects the whole suite. */
const USED_BY_EVERY_TEST = ['.mocharc.json', 'package.json', 'package-lock.json', 'tsconfig.json'];
const GLOBAL_SETUP = 'test/support/global-setup.ts';

export type AffectedTestsInput = {
  /** Text of each source file, by its path from the root of the project. */
  readonly sources: ReadonlyMap<string, string>;
  /** Paths of changed, new and deleted files. */
  readonly changed: readonly string[];
};

/**
 * Paths of the tests that a change affects, in alphabetical order: changed tests, and tests that reach a changed file
 * through the import graph. A file also reaches each file whose path it names in a string, such as one that it reads or
 * runs. Imports of types are not followed, because they do not exist at run time.
 */
export function affectedTests({ sources, changed }: AffectedTestsInput): readonly string[] {
  const tests = [...sources.keys()].filter(isTest).sort();
  const affected = dependentsOf(changed, sources);
  const all = [...USED_BY_EVERY_TEST, GLOBAL_SETUP].some((path) => affected.has(path));
  return all ? tests : tests.filter((path) => affected.has(path));
}

function isTest(path: string): boolean {
  return path.startsWith('test/') && path.endsWith('.test.ts');
}

/** The changed files, and all files that reach one of them. */
function dependentsOf(changed: readonly string[], sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [path, text] of sources)
    for (const imported of dependenciesOf(path, text))
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
  const found = new Set(changed);
  for (const path of found) for (const importer of importers.get(path) ?? []) found.add(importer);
  return found;
}

const IMPORT =
  /(?:^|\s)(?:import|export)\s(?!type\s)[^'";]*?from\s*'([^']+)'|(?:^|\s)import\s*'([^']+)'|\bimport\(\s*'([^']+)'/g;
const RELATIVE_URL = /new URL\(\s*'([^']+)'\s*,\s*import\.meta\.url/g;
const NAMED_PATH = /['"`]((?:[\w.-]+\/)+[\w.-]+\.\w+)['"`]/g;

function dependenciesOf(path: string, text: string): ReadonlySet<string> {
  const relative = [...text.matchAll(IMPORT), ...text.matchAll(RELATIVE_URL)]
    .map(([, ...groups]) => groups.find(Boolean) ?? '')
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier));
  const named = [...text.matchAll(NAMED_PATH)].map(([, name = '']) => name);
  return new Set([...relative, ...named]);
}
