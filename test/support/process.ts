import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A service in a process of its own, to be killed. */
export type ServiceProcess = {
  readonly adminUrl: string;
  readonly contentUrl: string;
  readonly child: ChildProcess;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
};

const cli = fileURLToPath(new URL('../../infrastructure/cli/palimpsest.ts', import.meta.url));

/** Starts `palimpsest serve` and waits until both listeners answer. @throws with its last lines when it ends before */
export async function startServiceProcess(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', cli, 'serve'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment, LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
  const exited = once(child, 'exit');
  const listening = new Promise<{ admin: string; content: string }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (lines.length > 200) lines.shift();
      const entry = parse(line);
      if (entry['message'] === 'listening') resolve({ admin: String(entry['admin']), content: String(entry['content']) });
    });
    void exited.then(() => {
      reject(new Error(`the service ended before it listened:\n${lines.join('\n')}`));
    });
  });
  const { admin, content } = await listening;
  return {
    adminUrl: admin,
    contentUrl: content,
    child,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await exited;
    },
  };
}

function parse(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}
