import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Capability } from '../../domain/platform/license.ts';
import { CAPABILITIES } from '../../domain/platform/license.ts';

export type LicenseWish = {
  /** Default: all of them. Also names that no version knows. */
  readonly capabilities?: readonly (Capability | (string & {}))[];
  /** Default: 30 days from now. */
  readonly expiresAt?: Date;
  /** Claims that replace or join the others. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly privateKey?: KeyObject;
  readonly header?: Readonly<Record<string, unknown>>;
};

/** One key pair for all tests of a run; a service takes it by `SVC_LICENSE_PUBLIC_KEY`. */
const keys = generateKeyPairSync('ed25519');
export const LICENSE_PUBLIC_KEY = String(keys.publicKey.export({ format: 'jwk' }).x);

/** A signed license, made by node's own cryptography. */
export function licenseToken({ capabilities = CAPABILITIES, expiresAt = inDays(30), claims = {}, privateKey = keys.privateKey, header = {} }: LicenseWish = {}): string {
  const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
  const payload = { iss: 'palimpsest-license', sub: 'tests', iat: seconds(new Date()), exp: seconds(expiresAt), capabilities, ...claims };
  const signed = `${encode({ alg: 'EdDSA', ...header })}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

/** Environment of a service that holds a license: `useService({ environment: licenseEnvironment({ capabilities: ['content-pro'] }) })`. */
export function licenseEnvironment(wish: LicenseWish = {}): Readonly<Record<string, string>> {
  return { SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY, SVC_LICENSE_KEY: licenseToken(wish) };
}

/** A moment so many days after `from` (default now). */
export function inDays(days: number, from = new Date()): Date {
  return new Date(from.getTime() + days * 86_400_000);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
