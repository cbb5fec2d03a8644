import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type Database, openDatabase } from '../../infrastructure/postgres/database.ts';

/** A database of one `describe`, cloned from the migrated template. */
export type TestDatabase = {
  /** Connection string, for child processes of a test. */
  url(): string;
  /** An open connection pool. */
  db(): Database;
};

/**
 * Creates a database for the enclosing `describe` and drops it afterwards. The schemas `operational` and `eventstore`
 * are migrated; read models do not exist. The server is `TEST_DATABASE_URL` or the embedded one of the global setup.
 */
export function useDatabase(): TestDatabase {
  const name = `t_${randomBytes(6).toString('hex')}`;
  let database: Database | undefined;
  before(async () => {
    await admin(`create database ${name} template ${templateName()} strategy file_copy`);
    database = openDatabase({ url: serverUrl(name), maxConnections: 10 });
  });
  after(async () => {
    await database?.close();
    await admin(`drop database if exists ${name} with (force)`);
  });
  return {
    url: () => serverUrl(name),
    db: () => {
      if (!database) throw new Error('the database is open inside tests and hooks only');
      return database;
    },
  };
}

/** Connection string of a database on the test server. */
export function serverUrl(database: string): string {
  const url = new URL(required('PALIMPSEST_TEST_SERVER'));
  url.pathname = `/${database}`;
  return url.toString();
}

/** Runs one statement on the maintenance database of the test server. */
export async function admin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl('postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function templateName(): string {
  return required('PALIMPSEST_TEST_TEMPLATE');
}

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests through mocha with test/support/global-setup.ts`);
  return value;
}
