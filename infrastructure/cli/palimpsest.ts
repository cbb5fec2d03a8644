#!/usr/bin/env node
import { messageOf } from '../../domain/message-of.ts';
import { createStopSignal } from './stop-signal.ts';

// Created before the commands' modules load, so that a signal during the load is handled.
const stop = createStopSignal();

// Makes stack traces name the sources. Node reads source maps while it loads modules, so this comes before the load.
process.setSourceMapsEnabled(true);

const COMMANDS = {
  start: {
    summary:
      'the quickstart: the whole service in one process with an embedded database (--demo loads sample content, --demo-from <directory> loads it from another directory of packages)',
    load: () => import('./start.ts'),
  },
  serve: {
    summary: 'starts the service with the settings of the environment and svc.yaml',
    load: () => import('./serve.ts'),
  },
  config: {
    summary: 'check|print|schema: checks or prints the settings without a start',
    load: () => import('./config.ts'),
  },
  rebuild: {
    summary:
      '<projection|all>: rebuilds read models beside the live ones and swaps them in (--force: even when they differ)',
    load: () => import('./rebuild.ts'),
  },
  replay: {
    summary:
      '--to <DATABASE_URL> [--until <time|position>] [--tenant <slug>]: builds all read models in an empty database',
    load: () => import('./replay.ts'),
  },
  'copy-events': {
    summary: '--from <url> --to <url>: copies all events to another event store and compares both',
    load: () => import('./copy-events.ts'),
  },
  keys: {
    summary: 'rotate | list: the signing keys of session tokens; a rotation needs no restart',
    load: () => import('./keys.ts'),
  },
  openapi: {
    summary: "public|admin|all [--tenant <slug>] [--out <file>]: the OpenAPI document, with the tenant's content types",
    load: () => import('./openapi.ts'),
  },
  types: {
    summary: "[--tenant <slug>] [--out <file>]: TypeScript types of the tenant's content types, for palimpsest/client",
    load: () => import('./types.ts'),
  },
  license: { summary: 'keygen | issue | inspect: licenses for development', load: () => import('./license.ts') },
  'verify-audit': {
    summary:
      '[--tenant <slug>] [--anchors <file>] [--restart]: verifies the log against its audit chain, and against copies of its signatures; names the first difference; exits 1 when there is one',
    load: () => import('./verify-audit.ts'),
  },
} as const;

/** The exports of a command's module. */
export type Command = {
  /** `stop` aborts on SIGTERM and SIGINT. @returns the exit code */
  readonly run: (args: readonly string[], context: { readonly stop: AbortSignal }) => Promise<number>;
  /** The command handles `stop`. Any other command ends at once on a signal. */
  readonly handlesStop?: boolean;
  /** Help of more than one line. */
  readonly usage?: string;
};

function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `usage: palimpsest <command> [options]\n\n${lines.join('\n')}\n`;
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    process.stderr.write(`palimpsest: there is no command ${name}\n\n${usage()}`);
    return 2;
  }
  const { summary, load } = COMMANDS[name as keyof typeof COMMANDS];
  const command: Command = await load();
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(command.usage ?? `usage: palimpsest ${name} ${summary}\n`);
    return 0;
  }
  if (command.handlesStop !== true) {
    if (stop.aborted) endNow();
    stop.addEventListener('abort', endNow, { once: true });
  }
  return command.run(args, { stop });
}

/** Ends the process with the exit code that shells report for the signal. */
function endNow(): never {
  process.exit(stop.reason === 'SIGINT' ? 130 : 143);
}

// Some promises at the end of a command, such as closing connections, do not keep the process alive. Without this timer
// Node would exit with 13.
const alive = setInterval(() => undefined, 60_000);
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const message = error instanceof Error && error.name !== 'SettingsError' ? reasonOf(error) : messageOf(error);
  process.stderr.write(`palimpsest: ${message}\n`);
  process.exitCode = error instanceof TypeError && 'code' in error ? 2 : 1;
} finally {
  clearInterval(alive);
}

/** The messages of an error and its causes, joined by colons. */
function reasonOf(error: Error): string {
  const causes: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const errors: readonly unknown[] = at instanceof AggregateError ? at.errors : [];
    const nested = errors.map(String).join('; ');
    causes.push(at.message === '' ? nested : at.message);
  }
  return causes.join(': ');
}
