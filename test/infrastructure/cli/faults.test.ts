import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const module = fileURLToPath(new URL('../../../infrastructure/cli/run-until-stopped.ts', import.meta.url));

/** Runs a service that raises an error once it is open. @returns the exit code and the output of the process */
function runService(): Promise<{ readonly code: number | string | null | undefined; readonly output: string }> {
  const program = `
    const { runUntilStopped } = await import(${JSON.stringify(module)});
    await runUntilStopped(async (opened, { faults }) => {
      opened.add(() => console.log('closed'));
      setImmediate(() => faults.raise(new Error('the consumer has ended')));
    }, { stop: new AbortController().signal });`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], (error, stdout, stderr) => {
      resolve({ code: error?.code, output: stdout + stderr });
    });
  });
}

describe('a part of a process that ends for good', () => {
  it('ends the process with 1, after everything was closed', async () => {
    const { code, output } = await runService();
    expect(code, output).to.equal(1);
    expect(output).to.contain('closed').and.to.contain('the consumer has ended');
  });
});
