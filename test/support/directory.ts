import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates an empty directory for the enclosing `describe`, and removes it after all its other hooks. */
export function useDirectory(): () => string {
  let directory: string | undefined;
  before(async function () {
    const created = await mkdtemp(join(tmpdir(), 'palimpsest-spec-'));
    directory = created;
    // Mocha runs `after` hooks in the order of their registration. Registered only now, this one is the last: the
    // other hooks have stopped the services that write to the directory.
    this.test?.parent?.afterAll(() => rm(created, { recursive: true, force: true }));
  });
  return () => {
    if (directory === undefined) throw new Error('the directory exists inside tests and hooks only');
    return directory;
  };
}

/** Creates an empty directory for each test of the enclosing `describe`, and removes them as `useDirectory` does. */
export function useDirectoryPerTest(): () => string {
  const parent = useDirectory();
  let directory: string | undefined;
  beforeEach(() => {
    directory = mkdtempSync(join(parent(), 'test-'));
  });
  return () => {
    if (directory === undefined) throw new Error('the directory exists inside tests and their hooks only');
    return directory;
  };
}
