import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../infrastructure/postgres/database.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/postgres/embedded/embedded-postgres.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import { collectNotRun, printNotRun } from './adapters.ts';
import { admin, serverUrl } from './database.ts';

const template = `palimpsest_template_${process.pid}`;
let embedded: { server: EmbeddedPostgres; directory: string } | undefined;

/** Runs once before the worker processes start: starts the server and creates the template of the test databases. */
export async function mochaGlobalSetup(): Promise<void> {
  await collectNotRun();
  process.env['PALIMPSEST_TEST_SERVER'] = process.env['TEST_DATABASE_URL'] ?? (await startServer());
  process.env['PALIMPSEST_TEST_TEMPLATE'] = template;
  await admin(`create database ${template}`);
  const database = openDatabase({ url: serverUrl(template) });
  await migrate(database);
  await database.close();
}

/** Runs once after the last test: drops the template and stops the server. */
export async function mochaGlobalTeardown(): Promise<void> {
  await admin(`drop database if exists ${template} with (force)`);
  await embedded?.server.stop();
  if (embedded) await rm(embedded.directory, { recursive: true, force: true });
  await printNotRun();
}

async function startServer(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'palimpsest-test-'));
  // Tests need no durability. The benches measure it.
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'on',
    max_connections: '300',
    shared_buffers: '256MB',
  };
  embedded = { server: await startEmbeddedPostgres({ directory, settings }), directory };
  return embedded.server.url('postgres');
}
