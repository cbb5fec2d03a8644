import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf } from '../../domain/code-of.ts';
import { findEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';

/** Name of the quickstart's database; every PostgreSQL server has it. */
export const EMBEDDED_DATABASE = 'postgres';

/** Directory of the embedded PostgreSQL. */
export function embeddedDirectory(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'postgres');
}

/**
 * Connection string of the database for a command: `DATABASE_URL`, else the database of a running quickstart.
 * @throws Error when neither exists
 */
export async function databaseUrlOf({
  databaseUrl,
  dataDir,
}: {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}): Promise<string> {
  if (databaseUrl !== undefined && databaseUrl !== 'embedded') return databaseUrl;
  const running = await findEmbeddedPostgres(embeddedDirectory(dataDir));
  if (running) return running.serviceUrl(EMBEDDED_DATABASE);
  throw new Error(
    `DATABASE_URL is unset and no quickstart is running in ${dataDir}: start one first, or set DATABASE_URL`,
  );
}

/** File of the quickstart's generated secrets. */
export function secretsFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'secrets.json');
}

/** The quickstart's secrets by variable; empty before its first start. */
export function quickstartSecrets(dataDirectory: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(secretsFile(dataDirectory), 'utf8')) as Readonly<Record<string, string>>;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw error;
  }
}
