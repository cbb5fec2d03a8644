// `npm test`: runs the whole suite, or the test files and folders that its arguments name. Other arguments go to mocha.
//   npm run test -- test/domain/content/entry.test.ts
//   npm run test -- test/domain/content
//   npm run test -- test/domain/content/entry.test.ts --grep "refuses"
//   npm run test:changed                      the tests that uncommitted changes affect (ops/test/changed.ts)
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mochaArguments } from './specs.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'palimpsest-run-'));
const totals = join(scratch, 'totals');
const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
const child = spawn(process.execPath, [mocha, '--reporter', 'ops/test/reporter.cjs', ...specs()], {
  stdio: 'inherit',
  env: { ...process.env, PALIMPSEST_TEST_TOTALS: totals },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  if (existsSync(totals)) process.stdout.write(`\n${readFileSync(totals, 'utf8')}`);
  rmSync(scratch, { recursive: true, force: true });
  process.exitCode = signal ? 1 : (code ?? 1);
});

function specs() {
  try {
    return mochaArguments(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    rmSync(scratch, { recursive: true, force: true });
    process.exit(2);
  }
}
