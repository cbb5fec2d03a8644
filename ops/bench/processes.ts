import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Whether processes can be pinned: `taskset` is installed and the machine has two cores. */
export const pinned = cpus().length >= 2 && works('taskset', ['-c', '0', 'true']);

/** The measured service runs on the first core, the load generator on the second. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export type Running = {
  readonly pid: number;
  /** Sends SIGTERM and waits until the process has exited. */
  stop(): Promise<void>;
};

/** Starts a Node process on a core. Calls `onLine` with each line of its output. The process must exit on SIGTERM. */
export function startNode({
  args,
  env,
  core,
  onLine,
}: {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly core?: number;
  readonly onLine?: (line: string) => void;
}): Running & { readonly child: ChildProcess } {
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
    if (code !== 0 && code !== null && !stopping)
      process.stderr.write(`a measured process exited with ${String(code)}:\n${tail.join('\n')}\n`);
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

/** Runs a TypeScript file that reads `input` as JSON from standard input and prints JSON in its last line. */
export async function runJson<T>({
  script,
  input,
  core,
  env,
}: {
  readonly script: string;
  readonly input: unknown;
  readonly core?: number;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<T> {
  const command = [process.execPath, '--import', 'tsx', script];
  const [file, ...rest] = pinned && core !== undefined ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(file as string, rest, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  // Use standard input, because bulk requests exceed the maximum length of an argument.
  child.stdin.end(JSON.stringify(input));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  const text = Buffer.concat(chunks).toString();
  if (code !== 0) throw new Error(`${script} exited with ${String(code)}: ${text}`);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as T;
}

/** Resident memory of a process in bytes. @returns undefined if the system does not report it */
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
