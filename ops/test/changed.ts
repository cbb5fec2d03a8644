// `npm run test:changed`: runs the tests that the uncommitted changes affect, new files included.
//   npm run test:changed -- main              changes since the branch left `main`
//   npm run test:changed -- --list            prints the tests and runs none
//   npm run test:changed -- main --bail       further options go to mocha
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { affectedTests } from './affected-tests.ts';

const given = process.argv.slice(2);
const base = given[0]?.startsWith('-') === false ? given[0] : 'HEAD';
const options = given.filter((argument, index) => !(index === 0 && argument === base) && argument !== '--list');

const tracked = git('ls-files', '-z');
const untracked = git('ls-files', '--others', '--exclude-standard', '-z');
const changed = [...git('diff', '--name-only', '--merge-base', base, '-z'), ...untracked];
const sources = new Map(
  [...tracked, ...untracked]
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .flatMap((path) => {
      const text = textOf(path);
      return text === undefined ? [] : [[path, text] as const];
    }),
);

const tests = affectedTests({ sources, changed });
if (tests.length === 0) console.log(`no test is affected by the changes since ${base}`);
else if (given.includes('--list')) console.log(tests.join('\n'));
else {
  console.log(`${tests.length} test files are affected by the changes since ${base}`);
  process.exitCode =
    spawnSync(process.execPath, ['ops/test/run.mjs', ...tests, ...options], { stdio: 'inherit' }).status ?? 1;
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\0')
    .filter((name) => name !== '');
}

/** Undefined for a deleted file. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
