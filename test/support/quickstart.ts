import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bundle = join(root, 'dist', 'palimpsest.js');

/** `palimpsest start` as a user runs it, from the bundle. */
export type Quickstart = {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  readonly output: () => string;
  readonly errors: () => string;
  /** Resolves when standard output matches. @throws with everything printed when the process ends before */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code when the process has ended. */
  readonly exited: Promise<number | null>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** Builds what `npm start` runs. */
export async function buildBundle(): Promise<void> {
  const child = spawn(process.execPath, ['ops/build/build.mjs'], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the build ended with ${code}`);
}

/** Starts it on a data directory, on free ports. */
export function startQuickstart(directory: string, { args = [], environment = {} }: { readonly args?: readonly string[]; readonly environment?: Readonly<Record<string, string>> } = {}): Quickstart {
  const child = spawn(process.execPath, [bundle, 'start', ...args], {
    env: {
      PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '',
      SVC_DATA_DIR: directory, ADMIN_LISTEN_ADDR: '127.0.0.1:0', API_LISTEN_ADDR: '127.0.0.1:0', ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  const waiting = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    for (const check of waiting) check();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  // 'close' comes when the streams have been read to their end.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    output: () => output,
    errors: () => errors,
    exited,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const match = pattern.exec(output);
          if (!match) return;
          waiting.delete(check);
          resolve(match);
        };
        waiting.add(check);
        void exited.then((code) => {
          reject(new Error(`ended with ${code} before it printed ${String(pattern)}:\n${output}\n${errors}`));
        });
        check();
      }),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
}

/** Process id of the database of a data directory; undefined when none runs. */
export async function databaseProcess(directory: string): Promise<number | undefined> {
  const text = await readFile(join(directory, 'postgres', 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
