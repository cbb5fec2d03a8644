// The spec reporter, plus what no single test can say: which adapters were not run and why, and one closing line.
const { existsSync, readFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class Closing extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.PALIMPSEST_TEST_NOT_RUN;
      const notRun = file && existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trim().split('\n'))].filter(Boolean) : [];
      // The spec reporter's own epilogue is printed by its listener, registered before this one.
      if (notRun.length > 0) process.stdout.write(`Not run:\n${notRun.map((line) => `  ${line}`).join('\n')}\n\n`);
      process.stdout.write(`${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
