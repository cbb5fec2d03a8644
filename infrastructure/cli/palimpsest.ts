#!/usr/bin/env node
import { messageOf } from '../../domain/message-of.ts';
import { ownValue } from '../../domain/own-value.ts';
import { createStopSignal } from './stop-signal.ts';

// Created before the commands' modules load, so that a signal during the load is handled.
const stop = createStopSignal();

// Makes stack traces name the sources. Node reads source maps while it loads modules, so this comes before the load.
process.setSourceMapsEnabled(true);

/** The exports of a command's module. */
export type Command = {
  /** `stop` aborts on SIGTERM and SIGINT. @returns the exit code */
  readonly run: (args: readonly string[], context: { readonly stop: AbortSignal }) => Promise<number>;
  /** The command handles `stop`. Any other command ends at once on a signal. */
  readonly handlesStop?: boolean;
  /** Help of more than one line. */
  readonly usage?: string;
};

type CommandEntry = {
  /** What follows the name of the command. */
  readonly options?: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
};

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  start: {
    options: '[--demo | --demo-from <directory>]',
    summary:
      'the quickstart: the whole service in one process with an embedded database (--demo loads sample content, --demo-from loads it from another directory of packages)',
    load: () => import('./start.ts'),
  },
  serve: {
    summary: 'starts the service with the settings of the environment and svc.yaml',
    load: () => import('./serve.ts'),
  },
  config: {
    options: 'check|print|schema [--json] [--quickstart]',
    summary: 'checks or prints the settings without a start',
    load: () => import('./config.ts'),
  },
  rebuild: {
    options: '<projection|all> [--force]',
    summary: 'rebuilds read models beside the live ones and swaps them in (--force: even when they differ)',
    load: () => import('./rebuild.ts'),
  },
  replay: {
    options: '--to <DATABASE_URL> [--until <time|position>] [--tenant <slug>]',
    summary: 'builds all read models in an empty database',
    load: () => import('./replay.ts'),
  },
  'copy-events': {
    options: '--from <url> --to <url>',
    summary: 'copies all events to another event store and compares both',
    load: () => import('./copy-events.ts'),
  },
  keys: {
    options: 'rotate|list',
    summary: 'the signing keys of session tokens; a rotation needs no restart',
    load: () => import('./keys.ts'),
  },
  openapi: {
    options: 'public|admin|all [--tenant <slug>] [--out <file>]',
    summary: "the OpenAPI document, with the tenant's content types",
    load: () => import('./openapi.ts'),
  },
  types: {
    options: '[--tenant <slug>] [--out <file>]',
    summary: "TypeScript types of the tenant's content types, for palimpsest/client",
    load: () => import('./types.ts'),
  },
  license: {
    options: 'keygen|issue|inspect',
    summary: 'licenses for development',
    load: () => import('./license.ts'),
  },
  'verify-audit': {
    options: '[--tenant <slug>] [--anchors <file>] [--restart]',
    summary:
      'verifies the log against its audit chain, and against copies of its signatures; names the first difference; exits 1 when there is one (--restart: starts the chains again before)',
    load: () => import('./verify-audit.ts'),
  },
};

function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, entry]) => `  ${name.padEnd(width)}  ${lineOf(entry)}`);
  return `usage: palimpsest <command> [options]\n\n${lines.join('\n')}\n`;
}

/** The options and the summary of a command. */
function lineOf({ options, summary }: CommandEntry): string {
  return options === undefined ? summary : `${options}: ${summary}`;
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  const entry = ownValue(COMMANDS, name);
  if (!entry) {
    process.stderr.write(`palimpsest: there is no command ${name}\n\n${usage()}`);
    return 2;
  }
  const command = await entry.load();
  if (args.includes('--help') || args.includes('-h')) {
    const help = `usage: palimpsest ${name}${entry.options === undefined ? ':' : ''} ${lineOf(entry)}\n`;
    process.stdout.write(command.usage ?? help);
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
  const message = error instanceof Error && error.name !== 'SettingsError' ? messagesOfCauses(error) : messageOf(error);
  process.stderr.write(`palimpsest: ${message}\n`);
  process.exitCode = error instanceof TypeError && 'code' in error ? 2 : 1;
} finally {
  clearInterval(alive);
}

/** The messages of an error and its causes, joined by colons. */
function messagesOfCauses(error: Error): string {
  const causes: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const errors: readonly unknown[] = at instanceof AggregateError ? at.errors : [];
    const nested = errors.map(String).join('; ');
    causes.push(at.message === '' ? nested : at.message);
  }
  return causes.join(': ');
}
