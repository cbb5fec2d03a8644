import { randomBytes } from 'node:crypto';
import { open, rename, stat, unlink } from 'node:fs/promises';

/**
 * Writes text to a draft beside a file, to be renamed to the file's path. Only the owner can read the draft (mode
 * 0600), and it is synced to the disk.
 * @returns the path of the draft
 */
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

/**
 * Replaces a file atomically: readers see either the old or the new content. The owner of the file stays the same, also
 * when root writes.
 */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const { uid, gid } = await stat(path);
  const draft = await writeDraft(path, text);
  try {
    const file = await open(draft, 'r+');
    try {
      const draftStat = await file.stat();
      if (draftStat.uid !== uid || draftStat.gid !== gid) await file.chown(uid, gid);
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

/** Age after which a lock is left over from a crashed process. */
const STALE_MS = 30_000;

/** Runs work while holding a lock on the file, `<path>.lock`. @throws Error when another process holds the lock */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  const existing = await stat(lock).catch(() => undefined);
  if (existing && Date.now() - existing.mtimeMs > STALE_MS) await unlink(lock).catch(() => undefined);
  const lockFile = await open(lock, 'wx', 0o600).catch((cause: unknown) => {
    throw new Error(`another process is changing ${path}, or the directory is not writable`, { cause });
  });
  try {
    return await work();
  } finally {
    await lockFile.close();
    await unlink(lock).catch(() => undefined);
  }
}
