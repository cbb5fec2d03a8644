import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ownValue } from '../../domain/own-value.ts';
import { quickstartSecrets, secretsFile } from './embedded.ts';

/**
 * Directory of the quickstart's state: `SVC_DATA_DIR`, unless it is empty, else `.palimpsest` in the working directory.
 */
export function quickstartDirectory(environment: Readonly<Record<string, string | undefined>>): string {
  return resolve(textOf(environment, 'SVC_DATA_DIR') ?? './.palimpsest');
}

/** Whether the environment names a database; if not, commands work on the quickstart. */
export function namesDatabase(environment: Readonly<Record<string, string | undefined>>): boolean {
  return textOf(environment, 'DATABASE_URL') !== undefined;
}

/** A variable of the environment. @returns undefined when it is unset or empty */
function textOf(environment: Readonly<Record<string, string | undefined>>, variable: string): string | undefined {
  const text = ownValue(environment, variable)?.trim();
  return text === '' ? undefined : text;
}

/**
 * Replaces the built-in defaults of the settings in a quickstart. Includes the generated secrets once the quickstart
 * has run.
 */
export function quickstartDefaults(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const dataDirectory = quickstartDirectory(environment);
  return {
    APP_ENV: 'development',
    DATABASE_URL: 'embedded',
    SVC_DATA_DIR: dataDirectory,
    JWT_KEY_PATH: join(dataDirectory, 'jwt_key.json'),
    LOG_LEVEL: 'warn',
    ...quickstartSecrets(dataDirectory),
  };
}

/** Creates the quickstart's secrets unless they exist. Only the owner of the file may read them. */
export function ensureQuickstartSecrets(dataDirectory: string): void {
  if (Object.keys(quickstartSecrets(dataDirectory)).length > 0) return;
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const file = secretsFile(dataDirectory);
  writeFileSync(file, JSON.stringify(newQuickstartSecrets(), undefined, 2), { mode: 0o600 });
  chmodSync(file, 0o600);
}

/** Random secrets, as the first start of the quickstart creates them. */
export function newQuickstartSecrets(): Readonly<Record<string, string>> {
  const secret = () => randomBytes(32).toString('hex');
  return {
    JWT_SECRET: secret(),
    ENCRYPTION_KEY: secret(),
    API_KEY_PEPPER: secret(),
    SVC_AUDIT_HMAC_KEY: secret(),
    SVC_SETUP_TOKEN: randomBytes(16).toString('hex'),
  };
}
