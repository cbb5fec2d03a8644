import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { DAY_MS } from '../../domain/durations.ts';
import { CAPABILITIES, type Capability } from '../../domain/platform/license.ts';

export type LicenseOptions = {
  /** Default: all capabilities. Unknown names are allowed. */
  readonly capabilities?: readonly (Capability | (string & {}))[];
  /** Default: 30 days from now. */
  readonly expiresAt?: Date;
  /** Additional claims, which replace those with the same name. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly privateKey?: KeyObject;
  readonly header?: Readonly<Record<string, unknown>>;
};

/** The key pair of the test process. A service reads its public key from `SVC_LICENSE_PUBLIC_KEY`. */
const keys = generateKeyPairSync('ed25519');
export const LICENSE_PUBLIC_KEY = String(keys.publicKey.export({ format: 'jwk' }).x);

/** A signed license token. It is signed by `node:crypto`, independently of the code under test. */
export function licenseToken({
  capabilities = CAPABILITIES,
  expiresAt = inDays(30),
  claims = {},
  privateKey = keys.privateKey,
  header = {},
}: LicenseOptions = {}): string {
  const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
  const payload = {
    iss: 'palimpsest-license',
    sub: 'tests',
    iat: seconds(new Date()),
    exp: seconds(expiresAt),
    capabilities,
    ...claims,
  };
  const signed = `${encode({ alg: 'EdDSA', ...header })}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

/**
 * Settings of a licensed service: `useService({ environment: licenseEnvironment({ capabilities: ['content-pro'] }) })`.
 */
export function licenseEnvironment(options: LicenseOptions = {}): Readonly<Record<string, string>> {
  return { SVC_LICENSE_PUBLIC_KEY: LICENSE_PUBLIC_KEY, SVC_LICENSE_KEY: licenseToken(options) };
}

/** The time `days` days after `from` (default: now). */
export function inDays(days: number, from = new Date()): Date {
  return new Date(from.getTime() + days * DAY_MS);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
