import { parseArgs } from 'node:util';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from '../composition/service.ts';
import type { Service } from '../composition/service.ts';
import { loadSettings } from '../configuration/load-settings.ts';
import { environmentLayer } from '../configuration/read-settings.ts';
import { createLogger } from '../logging/create-logger.ts';
import type { EmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { EMBEDDED_DATABASE, embeddedDirectory, quickstartSecrets, secretsFile } from './embedded.ts';
import { stopOnSignal } from './until-signal.ts';

const STEPS = {
  creating: 'Creating a database (once) …',
  recovering: 'Stopping a database that an earlier start left behind …',
  starting: 'Starting the database …',
  ready: 'Starting the service …',
} as const;

/**
 * `palimpsest start`: the quickstart (spec 4 A, development and production). `--demo` loads the packages installed beside it,
 * `--demo-from <directory>` those of another folder of packages.
 */
export async function run(args: readonly string[]): Promise<undefined> {
  const { values } = parseArgs({ args: [...args], options: { demo: { type: 'boolean', default: false }, 'demo-from': { type: 'string' } } });
  const dataDirectory = resolve(process.env['SVC_DATA_DIR'] ?? './.palimpsest');
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDirectory);
  const environment = { ...quickstart(dataDirectory), ...process.env };
  const { settings } = loadSettings([environmentLayer(environment)]);
  const logger = createLogger({ level: settings.logLevel, format: settings.logFormat ?? 'pretty' });
  const embedded = settings.databaseUrl === 'embedded' ? await startDatabase(dataDirectory) : undefined;
  let service: Service;
  try {
    service = await startService({ settings: { ...settings, databaseUrl: embedded?.url(EMBEDDED_DATABASE) ?? settings.databaseUrl }, logger });
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
  stopOnSignal(service, async () => {
    await embedded?.stop();
    say('Stopped. The data is kept in', dataDirectory);
    logger.flush();
  });
  const packages = values['demo-from'] ?? (values.demo ? installedPackages() : undefined);
  welcome(service, dataDirectory);
  // The demonstration makes the first account itself.
  if (packages === undefined) firstSteps(service);
  else await demonstrate(service, dataDirectory, packages);
  return undefined;
}

async function startDatabase(dataDirectory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    directory: embeddedDirectory(dataDirectory),
    onProgress: (step) => {
      process.stderr.write(`${STEPS[step]}\n`);
    },
  });
}

/** Defaults of the quickstart; what the environment sets wins. Secrets are made once and kept, readable by their owner only. */
function quickstart(dataDirectory: string): Readonly<Record<string, string>> {
  return {
    APP_ENV: 'development',
    DATABASE_URL: 'embedded',
    SVC_DATA_DIR: dataDirectory,
    JWT_KEY_PATH: join(dataDirectory, 'jwt_key.json'),
    LOG_LEVEL: 'warn',
    ...secrets(dataDirectory),
  };
}

function secrets(dataDirectory: string): Readonly<Record<string, string>> {
  const known = quickstartSecrets(dataDirectory);
  if (Object.keys(known).length > 0) return known;
  const file = secretsFile(dataDirectory);
  const secret = () => randomBytes(32).toString('hex');
  const made = { JWT_SECRET: secret(), ENCRYPTION_KEY: secret(), API_KEY_PEPPER: secret(), SVC_AUDIT_HMAC_KEY: secret(), SVC_SETUP_TOKEN: randomBytes(16).toString('hex') };
  writeFileSync(file, JSON.stringify(made, undefined, 2), { mode: 0o600 });
  chmodSync(file, 0o600);
  return made;
}

function welcome({ adminUrl, contentUrl }: Service, dataDirectory: string): void {
  say('\nPalimpsest runs. Ctrl-C stops it.\n');
  say('  Admin API  ', adminUrl);
  say('  Content API', contentUrl);
  say('  Data       ', dataDirectory);
}

function firstSteps({ adminUrl, setupToken }: Service): void {
  if (setupToken === undefined) {
    say('\nSign in:\n');
    say(`  curl -s ${adminUrl}/api/admin/auth/login -H 'content-type: application/json' \\\n    -d '{"email":"…","password":"…"}'\n`);
    return;
  }
  say('  Setup token', setupToken);
  say('\nMake the first account:\n');
  say(`  curl -s ${adminUrl}/api/admin/setup -H 'content-type: application/json' \\\n    -d '{"email":"you@example.org","password":"A-long-Password-1","setup_token":"${setupToken}"}'\n`);
}

/** Both from the sources and from the bundle, the packages lie beside the project's manifest. */
function installedPackages(): string {
  return fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../node_modules' : '../../node_modules', import.meta.url));
}

async function demonstrate({ adminUrl, contentUrl, setupToken }: Service, dataDirectory: string, nodeModules: string): Promise<void> {
  const { runDemo } = await import('./demo/demo.ts');
  try {
    await runDemo({ adminUrl, contentUrl, setupToken, dataDirectory, nodeModules, print: say });
  } catch (error) {
    process.stderr.write(`The demonstration stopped: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function say(...words: readonly string[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}
