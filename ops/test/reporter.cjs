// The spec reporter, plus its totals in a file, so that `npm test` can end on one closing line whatever else is printed at the end.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class Totals extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.PALIMPSEST_TEST_TOTALS;
      if (file) writeFileSync(file, `${passes} passed, ${failures} failed, ${pending} skipped\n`);
    });
  }
};
