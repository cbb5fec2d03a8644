// Child process of tests: holds the exclusive work `work` until the test kills it.
import { openDatabase } from '../../../infrastructure/postgres/database.ts';
import { createExclusive } from '../../../infrastructure/postgres/exclusive.ts';

const database = openDatabase({ url: process.argv[2] ?? '', maxConnections: 1, idleTransactionMs: 500 });
await createExclusive({ database })(
  'work',
  () =>
    new Promise(() => {
      process.send?.('inside');
      setInterval(() => undefined, 60_000);
    }),
);
