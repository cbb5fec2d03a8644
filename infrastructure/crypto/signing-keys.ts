import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JWK } from 'jose';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';

/** A private Ed25519 key as the file keeps it. */
export type SigningKey = JWK & { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string; readonly d: string; readonly kid: string };

/** The first key signs; all of them verify (room for a rotation with overlap). */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/**
 * Reads the key file at `JWT_KEY_PATH`, making it on the first start with mode 0600. Of two processes that start at once one file wins,
 * and both use it.
 * @throws Error when the file holds no Ed25519 key, or (with `ownerOnly`, spec 1: production) is group or other readable
 */
export async function loadSigningKeys({ path, ownerOnly = false }: { readonly path: string; readonly ownerOnly?: boolean }): Promise<SigningKeys> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }) ?? (await create(path));
  if (ownerOnly && ((await stat(path)).mode & 0o077) !== 0) throw new Error('the signing key file (JWT_KEY_PATH) may be readable by its owner only');
  return parse(text);
}

async function create(path: string): Promise<string> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = (await calculateJwkThumbprint(jwk)).slice(0, 16);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ keys: [{ ...jwk, kid, alg: 'EdDSA', use: 'sig' }] }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  // A link fails where a rename would overwrite: the first process wins.
  await link(draft, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  await unlink(draft);
  return readFile(path, 'utf8');
}

function parse(text: string): SigningKeys {
  const parsed: unknown = JSON.parse(text);
  const keys = typeof parsed === 'object' && parsed !== null && 'keys' in parsed && Array.isArray(parsed.keys) ? parsed.keys.filter(isSigningKey) : [];
  const [first, ...others] = keys;
  if (!first) throw new Error('the signing key file (JWT_KEY_PATH) holds no Ed25519 key');
  return [first, ...others];
}

function isSigningKey(value: unknown): value is SigningKey {
  if (typeof value !== 'object' || value === null) return false;
  const { kty, crv, x, d, kid } = value as Record<string, unknown>;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && typeof d === 'string' && typeof kid === 'string';
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
