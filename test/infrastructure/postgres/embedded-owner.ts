// Child process of tests: starts an embedded PostgreSQL and waits until the test kills the process.
import { startEmbeddedPostgres } from '../../../infrastructure/postgres/embedded/embedded-postgres.ts';

await startEmbeddedPostgres({ directory: process.argv[2] ?? '' });
process.send?.('ready');
setInterval(() => undefined, 60_000);
