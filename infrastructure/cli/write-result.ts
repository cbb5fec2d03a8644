import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes what a command made to the file, folders included, or to standard output. */
export async function writeResult(text: string, file: string | undefined): Promise<void> {
  if (file === undefined) {
    process.stdout.write(text);
    return;
  }
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
