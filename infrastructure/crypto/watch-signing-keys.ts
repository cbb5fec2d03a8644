import { stat } from 'node:fs/promises';
import { pruneSigningKeys } from './rotate-signing-keys.ts';
import type { SigningKey, SigningKeys } from './signing-keys.ts';
import { inForce, readSigningKeys } from './signing-keys.ts';

/** The keys of the file as they are now. The list stays the same one as long as the file does. */
export type SigningKeySource = {
  current(): readonly SigningKey[];
  /** Looks at the file again, at most once a second: a token may name a key that came a moment ago. @returns whether there are other keys now */
  reread(): Promise<boolean>;
};

export type WatchOptions = {
  readonly path: string;
  readonly ownerOnly: boolean;
  /** What was read at the start; none where tokens are signed under a secret and there is no file. */
  readonly keys: SigningKeys | readonly [];
  readonly now: () => Date;
  /** What is wrong with a changed file; the keys known so far stay in force. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between looks. Default 2,000. */
  readonly pollMs?: number;
};

const LOOK_AGAIN_MS = 1_000;

/** Follows the key file, so that a rotation needs no restart. Looks at intervals: mounted secrets and network drives tell of no change. */
export function watchSigningKeys({ path, ownerOnly, keys: atStart, now, onError, pollMs = 2_000 }: WatchOptions): SigningKeySource & { close(): void } {
  let keys: readonly SigningKey[] = atStart;
  let seen: string | undefined;
  let told: string | undefined;
  let lookedAtMs = -Infinity;
  let looking: Promise<boolean> | undefined;

  function look(): Promise<boolean> {
    return (looking ??= lookOnce().finally(() => {
      looking = undefined;
    }));
  }

  async function lookOnce(): Promise<boolean> {
    lookedAtMs = performance.now();
    try {
      await prune();
      const { mtimeMs, ino, size, mode } = await stat(path);
      const version = [mtimeMs, ino, size, mode].join('/');
      if (version === seen) return false;
      const found = (await readSigningKeys({ path, ownerOnly })) ?? keys;
      seen = version;
      told = undefined;
      if (JSON.stringify(found) === JSON.stringify(keys)) return false;
      keys = found;
      return true;
    } catch (error) {
      const reason = String(error);
      // What stays wrong is told of once.
      if (told !== reason && keys.length > 0) onError(error);
      told = reason;
      seen = undefined;
      return false;
    }
  }

  /** Retired keys verify nothing any more; in a file that this process may not write they are left. */
  async function prune(): Promise<void> {
    if (inForce(keys, now()).length < keys.length) await pruneSigningKeys({ path, now: now() }).catch(() => 0);
  }

  const timer = setInterval(() => void look(), pollMs);
  timer.unref();
  return {
    current: () => keys,
    reread: () => (looking ?? (performance.now() - lookedAtMs < LOOK_AGAIN_MS ? Promise.resolve(false) : look())),
    close() {
      clearInterval(timer);
    },
  };
}
