import { createPublicKey } from 'node:crypto';
import { FEATURE_NAMES } from '../../../domain/platform/features.ts';
import { listOf, text, url } from '../parsers.ts';
import type { Parser } from '../setting.ts';
import { optional } from '../setting.ts';

const RAW_BYTES = 32;

/** An Ed25519 public key, as PEM or base64url of its 32 raw bytes; the value is the latter. */
const licenseKey: Parser<string> = {
  kind: 'Ed25519 public key',
  parse: (value) => {
    const raw = value.includes('-----BEGIN') ? rawOf(value.replaceAll('\\n', '\n')) : value.replace(/=+$/, '');
    const good = raw !== undefined && /^[A-Za-z0-9_-]{43}$/.test(raw) && Buffer.from(raw, 'base64url').length === RAW_BYTES;
    return good ? { ok: true, value: raw } : { ok: false, remedy: 'set it to base64url of the 32 raw bytes of an Ed25519 public key, or to its PEM' };
  },
};

function rawOf(pem: string): string | undefined {
  try {
    const { crv, x } = createPublicKey(pem).export({ format: 'jwk' });
    return crv === 'Ed25519' ? x : undefined;
  } catch {
    return undefined;
  }
}

/** License and features (spec 1, license and gating rules; spec 4 A). */
export const license = {
  licenseKey: optional('SVC_LICENSE_KEY', text, 'Signed token, or a key that starts with `svc_live_`; unset: the free tier.', { secret: true }),
  licensePublicKey: optional('SVC_LICENSE_PUBLIC_KEY', licenseKey, 'Replaces the built-in license key: base64url of the 32 raw bytes, or PEM; refused in production.'),
  licenseServerUrl: optional('SVC_LICENSE_SERVER_URL', url('http', 'https'), 'Where keys that start with `svc_live_` are exchanged; https, or http to a loopback address outside production.'),
  licenseCacheDir: optional('SVC_LICENSE_CACHE_DIR', text, 'Keeps the install id and the token that such a key was exchanged for.', { shownDefault: '`license` in `SVC_DATA_DIR`' }),
  plugins: optional('SVC_PLUGINS', listOf(...FEATURE_NAMES), 'Features to start; it must list each feature that is used.', { shownDefault: 'unset: every feature' }),
} as const;
