import { type JWK, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { link, mkdir, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../domain/code-of.ts';
import { writeDraft } from './private-file.ts';

/** A private Ed25519 key as stored in the key file. */
export type SigningKey = JWK & {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
  readonly kid: string;
  /** RFC 3339. A key that a rotation replaced verifies tokens until then. */
  readonly retires_at?: string;
};

/** The first key signs. All keys verify until they retire. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/**
 * Reads the key file at `JWT_KEY_PATH`. The first start creates it with mode 0600. When two processes create it at
 * once, both use the file that was created first.
 * @param input With `ownerOnly`, the file must not be accessible to group and others; production requires this.
 * @throws Error when the file contains no Ed25519 key, or has more permissions than `ownerOnly` allows
 */
export async function loadSigningKeys({
  path,
  ownerOnly = false,
}: {
  readonly path: string;
  readonly ownerOnly?: boolean;
}): Promise<SigningKeys> {
  return (await readSigningKeys({ path, ownerOnly })) ?? (await create(path));
}

/**
 * Reads the key file without creating it.
 * @returns undefined when it does not exist.
 * @throws Error as `loadSigningKeys`
 */
export async function readSigningKeys({
  path,
  ownerOnly = false,
}: {
  readonly path: string;
  readonly ownerOnly?: boolean;
}): Promise<SigningKeys | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  if (ownerOnly && ((await stat(path)).mode & 0o077) !== 0)
    throw new Error('the signing key file (JWT_KEY_PATH) may be readable by its owner only');
  return parse(text);
}

/** Generates a key. Its `kid` is derived from its thumbprint. */
export async function newSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  const key = { ...jwk, kid: (await calculateJwkThumbprint(jwk)).slice(0, 16), alg: 'EdDSA', use: 'sig' };
  if (!isSigningKey(key)) throw new Error('no Ed25519 key could be made');
  return key;
}

/** The keys that are not retired. */
export function activeKeys(keys: readonly SigningKey[], now: Date): readonly SigningKey[] {
  return keys.filter(({ retires_at: until }) => until === undefined || Date.parse(until) > now.getTime());
}

/** Content of a key file. */
export function keyFileText(keys: SigningKeys): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

async function create(path: string): Promise<SigningKeys> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = await writeDraft(path, keyFileText([await newSigningKey()]));
  // Unlike a rename, a link fails when the file exists, so the file of the first process stays.
  await link(draft, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  await unlink(draft);
  return parse(await readFile(path, 'utf8'));
}

function parse(text: string): SigningKeys {
  const parsed: unknown = JSON.parse(text);
  const keys =
    typeof parsed === 'object' && parsed !== null && 'keys' in parsed && Array.isArray(parsed.keys)
      ? parsed.keys.filter(isSigningKey)
      : [];
  const [first, ...others] = keys;
  if (!first) throw new Error('the signing key file (JWT_KEY_PATH) contains no Ed25519 key');
  return [first, ...others];
}

function isSigningKey(value: unknown): value is SigningKey {
  if (typeof value !== 'object' || value === null) return false;
  const { kty, crv, x, d, kid, retires_at: until } = value as Record<string, unknown>;
  const retires = until === undefined || (typeof until === 'string' && !Number.isNaN(Date.parse(until)));
  return (
    kty === 'OKP' &&
    crv === 'Ed25519' &&
    typeof x === 'string' &&
    typeof d === 'string' &&
    typeof kid === 'string' &&
    retires
  );
}
