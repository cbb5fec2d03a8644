import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const bundle = join(root, 'dist', 'palimpsest.js');

/** `palimpsest start` in a child process, from the built bundle. */
export type Quickstart = {
  readonly child: ChildProcess;
  /** Standard output so far. */
  readonly output: () => string;
  readonly errors: () => string;
  /** Resolves when standard output matches. @throws Error with the output when the process exits before */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code when the process has exited. */
  readonly exited: Promise<number | null>;
  /** Sends a signal and waits until the process has exited. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

/** Builds the bundle that `npm start` runs. */
export async function buildBundle(): Promise<void> {
  const child = spawn(process.execPath, ['ops/build/build.mjs'], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the build exited with ${code}`);
}

/** Starts the bundle on a data directory and free ports. */
export function startQuickstart(
  directory: string,
  {
    args = [],
    environment = {},
  }: { readonly args?: readonly string[]; readonly environment?: Readonly<Record<string, string>> } = {},
): Quickstart {
  const child = spawn(process.execPath, [bundle, 'start', ...args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      SVC_DATA_DIR: directory,
      ADMIN_LISTEN_ADDR: '127.0.0.1:0',
      API_LISTEN_ADDR: '127.0.0.1:0',
      ...environment,
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
  // 'close' is emitted after both outputs have been read completely.
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
          reject(new Error(`exited with ${code} before it printed ${String(pattern)}:\n${output}\n${errors}`));
        });
        check();
      }),
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
}

/** Process id of the running database of a data directory; undefined when none runs. */
export async function databaseProcess(directory: string): Promise<number | undefined> {
  const text = await readFile(join(directory, 'postgres', 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
