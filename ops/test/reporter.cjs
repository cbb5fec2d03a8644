// The spec reporter, plus its totals in a file, so that `npm test` can end on one closing line whatever else is printed at the end.
// A test that passed only on another try (`--retries`, as continuous integration asks for) is named: it wants mending.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

const { EVENT_RUN_END, EVENT_TEST_RETRY } = Mocha.Runner.constants;

module.exports = class Totals extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const retried = new Set();
    runner.on(EVENT_TEST_RETRY, (test, error) => {
      retried.add(`tried again: ${test.fullTitle()}: ${String(error && error.message).split('\n')[0]}\n`);
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.PALIMPSEST_TEST_TOTALS;
      if (file) writeFileSync(file, `${[...retried].join('')}\n${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
