import { randomBytes } from 'node:crypto';
import { open, rename, stat, unlink } from 'node:fs/promises';

/** Writes text beside a file, for its owner alone and to the disk, to be moved into its place. @returns path of the draft */
export async function writeDraft(path: string, text: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return draft;
}

/** Replaces a file as a whole: readers see the one before or this one. It stays with its owner, also where root does the writing. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(path);
  const draft = await writeDraft(path, text);
  try {
    const file = await open(draft, 'r+');
    try {
      const made = await file.stat();
      if (made.uid !== uid || made.gid !== gid) await file.chown(uid, gid);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

/** What a process that died left is nobody's after so long. */
const STALE_MS = 30_000;

/** Runs work that no other process does on this file at the same time. @throws Error while another one does */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const left = await stat(lock).catch(() => undefined);
  if (left && Date.now() - left.mtimeMs > STALE_MS) await unlink(lock).catch(() => undefined);
  const held = await open(lock, 'wx', 0o600).catch((cause: unknown) => {
    throw new Error(`another process is changing ${path}, or the directory can't be written`, { cause });
  });
  try {
    return await work();
  } finally {
    await held.close();
    await unlink(lock).catch(() => undefined);
  }
}
