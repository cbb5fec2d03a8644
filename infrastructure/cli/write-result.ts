import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes the result of a command to `file`, creating its directories, or to standard output without one. */
export async function writeResult(text: string, file: string | undefined): Promise<void> {
  if (file === undefined) {
    process.stdout.write(text);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
