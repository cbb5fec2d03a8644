import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** `taskset` is there and there are two cores to keep apart. */
export const pinned = cpus().length >= 2 && works('taskset', ['-c', '0', 'true']);

/** What is measured runs on the first core, the load that measures it on the second. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export type Running = {
  readonly pid: number;
  /** Ends it by SIGTERM and waits. */
  stop(): Promise<void>;
};

/** Starts a Node process on a core. Its output goes to `log` lines; it must end by itself on SIGTERM. */
export function startNode({ args, env, core, onLine }: { readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>>; readonly core?: number; readonly onLine?: (line: string) => void }): Running & { readonly child: ChildProcess } {
  const command = [process.execPath, ...args];
  const [file, ...rest] = pinned && core !== undefined ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(file as string, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const tail: string[] = [];
  let partial = '';
  let stopping = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      const lines = (partial + chunk.toString()).split('\n');
      partial = lines.pop() ?? '';
      for (const line of lines) {
        tail.push(line);
        if (tail.length > 50) tail.shift();
        onLine?.(line);
      }
    });
  }
  const exited = once(child, 'exit');
  void exited.then(([code]) => {
    if (code !== 0 && code !== null && !stopping) process.stderr.write(`a measured process ended with ${String(code)}:\n${tail.join('\n')}\n`);
  });
  return {
    pid: child.pid ?? 0,
    child,
    async stop() {
      stopping = true;
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Runs a script of ours on the load's core; it gets `input` as JSON on standard input and prints JSON. */
export async function runJson<T>({ script, input, core, env }: { readonly script: string; readonly input: unknown; readonly core?: number; readonly env?: Readonly<Record<string, string>> }): Promise<T> {
  const command = [process.execPath, '--import', 'tsx', script];
  const [file, ...rest] = pinned && core !== undefined ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(file as string, rest, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  // Not as an argument: a bulk of requests is longer than those may be.
  child.stdin.end(JSON.stringify(input));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const text = Buffer.concat(chunks).toString();
  if (code !== 0) throw new Error(`${script} ended with ${String(code)}: ${text}`);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as T;
}

/** Puts a process and all its threads on a core. */
export function pin(pid: number, core: number): void {
  if (pinned) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** Resident memory of a process in bytes. @returns undefined where the system does not tell */
export function residentBytes(pid: number): number | undefined {
  try {
    const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return match ? Number(match[1]) * 1024 : undefined;
  } catch {
    return undefined;
  }
}

function works(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
