// The pre-commit hook: formats the staged files, stages the result, and lints the staged sources.
// A file with staged and unstaged changes is only checked: formatting it would stage both.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const programOf = (name, path) => join(dirname(require.resolve(`${name}/package.json`)), path);

if (!existsSync('node_modules/prettier')) fail('node_modules is missing: run `npm install`, then commit again');
const prettier = programOf('prettier', 'bin/prettier.cjs');
const eslint = programOf('eslint', 'bin/eslint.js');

const staged = names(['diff', '--cached', '--name-only', '--diff-filter=ACMR', '-z']);
const unstaged = new Set(names(['diff', '--name-only', '-z']));
const whole = staged.filter((name) => !unstaged.has(name));
const partial = staged.filter((name) => unstaged.has(name));

if (whole.length > 0) {
  if (!run(prettier, ['--write', '--ignore-unknown', '--log-level', 'warn', ...whole]))
    fail('Prettier cannot format the files named above: fix them, then commit again');
  execFileSync('git', ['add', '--', ...whole]);
}
if (partial.length > 0 && !run(prettier, ['--check', '--ignore-unknown', '--log-level', 'warn', ...partial]))
  fail('format the files named above with `npm run format`, stage them, then commit again');

const sources = staged.filter((name) => /\.(ts|[cm]?js)$/.test(name));
if (sources.length > 0 && !run(eslint, ['--max-warnings', '0', '--no-warn-ignored', ...sources]))
  fail('fix the lint errors above, stage the files, then commit again');

function names(args) {
  return execFileSync('git', args, { encoding: 'utf8' }).split('\0').filter(Boolean);
}

function run(program, args) {
  return spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' }).status === 0;
}

function fail(message) {
  console.error(`pre-commit: ${message} (git commit --no-verify skips this check)`);
  process.exit(1);
}
