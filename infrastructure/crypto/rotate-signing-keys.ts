import { replacePrivateFile, withFileLock } from './private-file.ts';
import type { SigningKeys } from './signing-keys.ts';
import { inForce, keyFileText, loadSigningKeys, newSigningKey } from './signing-keys.ts';

/**
 * Puts a new key in front of those of the file; the one that signed until now verifies for `overlapSeconds` more, which must outlast every
 * token that it signed. Running processes take the file in by themselves. Keys that are retired go.
 * @throws Error when the file can't be replaced, or another process is at it
 */
export async function rotateSigningKeys({ path, overlapSeconds, now }: { readonly path: string; readonly overlapSeconds: number; readonly now: Date }): Promise<SigningKeys> {
  // Made on the first start: whoever rotates before it has a key to begin with.
  await loadSigningKeys({ path });
  return withFileLock(path, async () => {
    const [former, ...others] = await loadSigningKeys({ path });
    const retiring = { ...former, retires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString() };
    const keys: SigningKeys = [await newSigningKey(), retiring, ...inForce(others, now)];
    await replacePrivateFile(path, keyFileText(keys));
    return keys;
  });
}

/** Takes the keys that are retired out of the file. @returns how many @throws Error when the file can't be replaced */
export async function pruneSigningKeys({ path, now }: { readonly path: string; readonly now: Date }): Promise<number> {
  return withFileLock(path, async () => {
    const keys = await loadSigningKeys({ path });
    const [first, ...others] = inForce(keys, now);
    if (!first || others.length + 1 === keys.length) return 0;
    await replacePrivateFile(path, keyFileText([first, ...others]));
    return keys.length - 1 - others.length;
  });
}
