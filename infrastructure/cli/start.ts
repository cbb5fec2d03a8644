import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { messageOf } from '../../domain/message-of.ts';
import type { Closers } from '../composition/open-parts.ts';
import type { Service } from '../composition/start-service.ts';
import { loadSettings } from '../configuration/load-settings.ts';
import { startLayers } from '../configuration/start-layers.ts';
import { createLogger } from '../logging/create-logger.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../postgres/embedded/embedded-postgres.ts';
import { lockDataDirectory } from './data-directory-lock.ts';
import { embeddedDirectory } from './embedded.ts';
import { openService } from './open-service.ts';
import { ensureQuickstartSecrets, quickstartDefaults, quickstartDirectory } from './quickstart-defaults.ts';
import { type RunContext, runUntilStopped } from './run-until-stopped.ts';

const STEPS = {
  creating: 'Creating a database (once) …',
  recovering: 'Stopping a database that an earlier start left behind …',
  starting: 'Starting the database …',
  ready: 'Starting the service …',
} as const;

export const handlesStop = true;

/**
 * `palimpsest start`: the quickstart, with an embedded database and generated secrets. `--demo` loads the documents of
 * the packages in `node_modules`, `--demo-from <directory>` those of another directory of packages.
 */
export function run(args: readonly string[], { stop }: { readonly stop: AbortSignal }): Promise<never> {
  const { values } = parseArgs({
    args: [...args],
    options: { demo: { type: 'boolean', default: false }, 'demo-from': { type: 'string' } },
  });
  const packages = values['demo-from'] ?? (values.demo ? installedPackages() : undefined);
  return runUntilStopped((closers, context) => startQuickstartProcess(packages, closers, context), { stop });
}

async function startQuickstartProcess(
  packages: string | undefined,
  closers: Closers,
  context: RunContext,
): Promise<void> {
  const { stop } = context;
  const dataDirectory = quickstartDirectory(process.env);
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  await lockDataDirectory(dataDirectory);
  ensureQuickstartSecrets(dataDirectory);
  const start = startLayers(process.env, quickstartDefaults(process.env));
  const read = loadSettings(start.layers, start.problems);
  const logger = createLogger({ level: read.settings.logLevel, format: read.settings.logFormat ?? 'pretty' });
  const startDatabase = () => startEmbeddedDatabase(dataDirectory, stop);
  const service = await openService({ start, read, logger, startDatabase }, closers, context);
  welcome(service, dataDirectory);
  // The demo creates the first account.
  if (packages === undefined) firstSteps(service);
  else await Promise.race([loadDemo(service, dataDirectory, packages), aborted(stop)]);
}

/** Resolves when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Starts the database, which says when it stops because the process was asked to. */
async function startEmbeddedDatabase(
  dataDirectory: string,
  stop: AbortSignal,
): Promise<Pick<EmbeddedPostgres, 'serviceUrl' | 'stop'>> {
  const database = await startEmbeddedPostgres({
    directory: embeddedDirectory(dataDirectory),
    onProgress: (step) => {
      process.stderr.write(`${STEPS[step]}\n`);
    },
  });
  return {
    serviceUrl: (name) => database.serviceUrl(name),
    async stop() {
      await database.stop();
      if (stop.aborted) say('Stopped. The data is kept in', dataDirectory);
    },
  };
}

function welcome({ adminUrl, contentUrl }: Service, dataDirectory: string): void {
  say('\nPalimpsest is running. Press Ctrl-C to stop it.\n');
  say('  Admin API  ', adminUrl);
  say('  Content API', contentUrl);
  say('  Data       ', dataDirectory);
}

function firstSteps({ adminUrl, setupToken }: Service): void {
  if (setupToken === undefined) {
    say('\nSign in:\n');
    say(
      `  curl -s ${adminUrl}/api/admin/auth/login -H 'content-type: application/json' \\\n` +
        `    -d '{"email":"…","password":"…"}'\n`,
    );
    return;
  }
  say('  Setup token', setupToken);
  say('\nCreate the first account:\n');
  say(
    `  curl -s ${adminUrl}/api/admin/setup -H 'content-type: application/json' \\\n` +
      `    -d '{"email":"you@example.org","password":"A-long-Password-1","setup_token":"${setupToken}"}'\n`,
  );
}

/** `node_modules` of this project: the nearest folder of that name above this module. */
function installedPackages(): string {
  const found = createRequire(import.meta.url)
    .resolve.paths('any')
    ?.find((path) => existsSync(path));
  if (found === undefined) throw new Error('there is no folder node_modules: run npm ci');
  return found;
}

async function loadDemo(
  { adminUrl, contentUrl, setupToken }: Service,
  dataDirectory: string,
  nodeModules: string,
): Promise<void> {
  const { runDemo } = await import('./demo/demo.ts');
  try {
    await runDemo({ adminUrl, contentUrl, setupToken, dataDirectory, nodeModules, print: say });
  } catch (error) {
    process.stderr.write(`The demo stopped: ${messageOf(error)}\n`);
  }
}

function say(...words: readonly string[]): void {
  process.stdout.write(`${words.join(' ')}\n`);
}
