import { replacePrivateFile, withFileLock } from './private-file.ts';
import { type SigningKeys, activeKeys, keyFileText, loadSigningKeys, newSigningKey } from './signing-keys.ts';

/**
 * Adds a new signing key to the key file and removes retired keys. The previous signing key verifies tokens for another
 * `overlapSeconds`, which must be longer than the lifetime of the tokens it signed. Running processes reload the file
 * on their own.
 * @returns the keys of the file; the new one is first
 * @throws Error when the file cannot be replaced, or another process is changing it
 */
export async function rotateSigningKeys({
  path,
  overlapSeconds,
  now,
}: {
  readonly path: string;
  readonly overlapSeconds: number;
  readonly now: Date;
}): Promise<SigningKeys> {
  // The first start of a service creates the file. Create it here too, for a rotation before the first start.
  await loadSigningKeys({ path });
  return withFileLock(path, async () => {
    const [previous, ...others] = await loadSigningKeys({ path });
    const retiring = { ...previous, retires_at: new Date(now.getTime() + overlapSeconds * 1000).toISOString() };
    const keys: SigningKeys = [await newSigningKey(), retiring, ...activeKeys(others, now)];
    await replacePrivateFile(path, keyFileText(keys));
    return keys;
  });
}

/**
 * Removes retired keys from the key file.
 * @returns the number of removed keys.
 * @throws Error when the file cannot be replaced
 */
export async function pruneSigningKeys({ path, now }: { readonly path: string; readonly now: Date }): Promise<number> {
  return withFileLock(path, async () => {
    const keys = await loadSigningKeys({ path });
    const [first, ...others] = activeKeys(keys, now);
    if (!first || others.length + 1 === keys.length) return 0;
    await replacePrivateFile(path, keyFileText([first, ...others]));
    return keys.length - 1 - others.length;
  });
}
