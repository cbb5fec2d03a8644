import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A service in a child process, which a test can kill. */
export type ServiceProcess = {
  readonly adminUrl: string;
  readonly contentUrl: string;
  readonly child: ChildProcess;
  /** Its standard output and standard error so far. */
  readonly output: () => string;
  /** Resolves with the exit code; null when a signal killed the process. */
  readonly exited: Promise<number | null>;
  /** Sends a signal and waits until the process has exited. */
  end(signal: NodeJS.Signals): Promise<void>;
};

export type StartOptions = {
  /** Default `info`. */
  readonly logLevel?: string;
};

const cli = fileURLToPath(new URL('../../infrastructure/cli/palimpsest.ts', import.meta.url));

/** Child processes to kill when the test process exits, even after a crash. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts `palimpsest serve` and waits until it listens. @throws Error with its output when it exits before */
export async function startServiceProcess(
  environment: Readonly<Record<string, string>>,
  { logLevel = 'info' }: StartOptions = {},
): Promise<ServiceProcess> {
  const { child, output, exited } = launchServiceProcess(environment, { logLevel });
  const listening = new Promise<{ admin: string; content: string }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = parse(line);
      if (entry['message'] === 'listening')
        resolve({ admin: String(entry['admin']), content: String(entry['content']) });
    });
    void exited.then(() => {
      reject(new Error(`the service exited before it listened:\n${output()}`));
    });
  });
  const { admin, content } = await listening;
  return {
    adminUrl: admin,
    contentUrl: content,
    child,
    output,
    exited,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await exited;
    },
  };
}

/** Starts `palimpsest serve` without waiting for it. */
export function launchServiceProcess(
  environment: Readonly<Record<string, string>>,
  { logLevel = 'info' }: StartOptions = {},
) {
  return run(['serve'], { ...environment, LOG_LEVEL: logLevel, LOG_FORMAT: 'json' });
}

/** Runs a command of `palimpsest` and waits until it exits. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { output, exited } = run(args, environment);
  return { code: await exited, output: output() };
}

function run(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['--import', 'tsx', cli, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  // 'close' is emitted after both outputs have been read completely.
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, exited, output: () => chunks.join('') };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
