// Mocha's spec reporter. It also writes the totals to the file that PALIMPSEST_TEST_TOTALS names; ops/test/run.mjs
// prints them as the last line of a run. With `--retries`, the totals name each test that failed first and passed
// later: such a test must be fixed.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

const { EVENT_RUN_END, EVENT_TEST_RETRY } = Mocha.Runner.constants;

module.exports = class Totals extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const retried = new Set();
    runner.on(EVENT_TEST_RETRY, (test, error) => {
      retried.add(`retried: ${test.fullTitle()}: ${String(error && error.message).split('\n')[0]}\n`);
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.PALIMPSEST_TEST_TOTALS;
      if (file)
        writeFileSync(file, `${[...retried].join('')}\n${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
