import { mkdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptLicense, LicenseCache } from '../../application/ports/license-storage.ts';
import { writeDraft } from '../crypto/private-file.ts';

const FILE = 'license.json';

/**
 * The file `license.json` in `SVC_LICENSE_CACHE_DIR`, mode 0600. It is replaced atomically: a reader sees either the
 * old or the new content.
 */
export function createLicenseCache({ directory }: { readonly directory: string }): LicenseCache {
  const path = join(directory, FILE);
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(() => '');
      return parse(text);
    },
    async save({ installId, kept }) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const { token, origin, keyDigest } = kept;
      const content = { install_id: installId, token, origin, key_digest: keyDigest };
      const draft = await writeDraft(path, `${JSON.stringify(content, null, 2)}\n`);
      await rename(draft, path).catch(async (error: unknown) => {
        await unlink(draft).catch(() => undefined);
        throw error;
      });
    },
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function parse(text: string): { readonly installId: string | undefined; readonly kept: KeptLicense | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { installId: undefined, kept: undefined };
  }
  const {
    install_id: installId,
    token,
    origin,
    key_digest: keyDigest,
  }: Record<string, unknown> = typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
  const cached =
    typeof token === 'string' &&
    (origin === 'exchange' || origin === 'renewal') &&
    (keyDigest === null || typeof keyDigest === 'string');
  return {
    installId: typeof installId === 'string' && UUID.test(installId) ? installId : undefined,
    kept: cached ? { token, origin, keyDigest } : undefined,
  };
}
