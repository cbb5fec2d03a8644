import { stat } from 'node:fs/promises';
import { createSharedRun } from '../../application/concurrency/shared-run.ts';
import { pruneSigningKeys } from './rotate-signing-keys.ts';
import { type SigningKey, type SigningKeys, activeKeys, readSigningKeys } from './signing-keys.ts';

/** The current keys of the key file. `current` returns the same array until the file changes. */
export type SigningKeySource = {
  current(): readonly SigningKey[];
  /**
   * Reads the file again, at most once a second, because a token may name a new key.
   * @returns whether the keys changed
   */
  reread(): Promise<boolean>;
};

export type WatchOptions = {
  readonly path: string;
  readonly ownerOnly: boolean;
  /** The keys read at the start; empty when tokens are signed with a secret and no file exists. */
  readonly keys: SigningKeys | readonly [];
  readonly now: () => Date;
  /** Called when a changed file cannot be used. The keys read before stay in use. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between two checks of the file. Default: 2,000. */
  readonly pollMs?: number;
};

const REREAD_INTERVAL_MS = 1_000;

/**
 * Watches the key file, so that a rotation needs no restart. It polls, because mounted secrets and network drives send
 * no change notifications.
 */
export function watchSigningKeys({
  path,
  ownerOnly,
  keys: atStart,
  now,
  onError,
  pollMs = 2_000,
}: WatchOptions): SigningKeySource & { close(): void } {
  let keys: readonly SigningKey[] = atStart;
  let lastVersion: string | undefined;
  let reportedError: string | undefined;
  let checkedAtMs = -Infinity;
  const checking = createSharedRun(check);

  /** @returns whether the keys changed */
  async function check(): Promise<boolean> {
    checkedAtMs = performance.now();
    try {
      await prune();
      const { mtimeMs, ino, size, mode } = await stat(path);
      const version = [mtimeMs, ino, size, mode].join('/');
      if (version === lastVersion) return false;
      const found = (await readSigningKeys({ path, ownerOnly })) ?? keys;
      lastVersion = version;
      reportedError = undefined;
      if (JSON.stringify(found) === JSON.stringify(keys)) return false;
      keys = found;
      return true;
    } catch (error) {
      const reason = String(error);
      // Report an error once while it lasts.
      if (reportedError !== reason && keys.length > 0) onError(error);
      reportedError = reason;
      lastVersion = undefined;
      return false;
    }
  }

  /** Removes retired keys from the file. When this process cannot write the file, they stay there unused. */
  async function prune(): Promise<void> {
    if (activeKeys(keys, now()).length < keys.length) await pruneSigningKeys({ path, now: now() }).catch(() => 0);
  }

  const timer = setInterval(() => void checking.run(), pollMs);
  timer.unref();
  return {
    current: () => keys,
    reread: () =>
      checking.current() ??
      (performance.now() - checkedAtMs < REREAD_INTERVAL_MS ? Promise.resolve(false) : checking.run()),
    close() {
      clearInterval(timer);
    },
  };
}
