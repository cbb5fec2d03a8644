// A process that owns an embedded PostgreSQL and waits to be killed.
import { startEmbeddedPostgres } from '../../infrastructure/postgres/embedded/embedded-postgres.ts';

await startEmbeddedPostgres({ directory: process.argv[2] ?? '' });
process.send?.('ready');
setInterval(() => undefined, 60_000);
