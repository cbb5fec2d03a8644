import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';

/** Database of the quickstart: the one every cluster has. */
export const EMBEDDED_DATABASE = 'postgres';

/** Where the embedded PostgreSQL lives below the data directory. */
export function embeddedDirectory(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'postgres');
}

/**
 * Address of the database that a command works on: `DATABASE_URL`, else that of the quickstart running beside it.
 * @throws Error when there is neither
 */
export async function databaseUrlOf({ databaseUrl, dataDir }: { readonly databaseUrl: string | undefined; readonly dataDir: string }): Promise<string> {
  if (databaseUrl !== undefined && databaseUrl !== 'embedded') return databaseUrl;
  const beside = await findEmbeddedPostgres(embeddedDirectory(dataDir));
  if (beside) return beside(EMBEDDED_DATABASE);
  throw new Error(`DATABASE_URL is unset and no quickstart runs on ${dataDir}: start it first, or name a database`);
}

/** File of the secrets that the quickstart made for itself. */
export function secretsFile(dataDirectory: string): string {
  return join(resolve(dataDirectory), 'secrets.json');
}

/** The quickstart's secrets by variable; none where it never ran. */
export function quickstartSecrets(dataDirectory: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(secretsFile(dataDirectory), 'utf8')) as Readonly<Record<string, string>>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
