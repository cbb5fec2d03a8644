import { openDatabase } from '../../infrastructure/postgres/database.ts';
import { migrate } from '../../infrastructure/postgres/migrate.ts';
import { admin, serverUrl } from './database.ts';

const template = `palimpsest_template_${process.pid}`;

/** Runs once, before the workers start: a server, and the template that every test database is cloned from. */
export async function mochaGlobalSetup(): Promise<void> {
  const server = process.env['TEST_DATABASE_URL'];
  if (!server) throw new Error('TEST_DATABASE_URL is unset');
  process.env['PALIMPSEST_TEST_SERVER'] = server;
  process.env['PALIMPSEST_TEST_TEMPLATE'] = template;
  await admin(`create database ${template}`);
  const database = openDatabase({ url: serverUrl(template) });
  await migrate(database);
  await database.close();
}

/** Runs once, after the last test. */
export async function mochaGlobalTeardown(): Promise<void> {
  await admin(`drop database if exists ${template} with (force)`);
}
