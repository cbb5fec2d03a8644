import { createPublicKey } from 'node:crypto';
import { FEATURE_NAMES } from '../../../domain/platform/features.ts';
import { listOf, text, url } from '../parsers.ts';
import { type Parser, optional } from '../setting.ts';

const RAW_BYTES = 32;

/** An Ed25519 public key as PEM or as base64url of its 32 raw bytes. The parsed value is the base64url text. */
const licenseKey: Parser<string> = {
  kind: 'Ed25519 public key',
  parse: (value) => {
    const raw = value.includes('-----BEGIN') ? rawOf(value.replaceAll('\\n', '\n')) : value.replace(/=+$/, '');
    const good =
      raw !== undefined && /^[A-Za-z0-9_-]{43}$/.test(raw) && Buffer.from(raw, 'base64url').length === RAW_BYTES;
    return good
      ? { ok: true, value: raw }
      : { ok: false, remedy: 'set it to base64url of the 32 raw bytes of an Ed25519 public key, or to its PEM' };
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

/** License and features. */
export const license = {
  licenseKey: optional(
    'SVC_LICENSE_KEY',
    text,
    'Signed license token, or a license key that starts with `svc_live_`. Unset: the free tier.',
    { secret: true },
  ),
  licensePublicKey: optional(
    'SVC_LICENSE_PUBLIC_KEY',
    licenseKey,
    'Replaces the built-in public key that verifies licenses: base64url of the 32 raw bytes, or PEM. Refused in production.',
  ),
  licenseServerUrl: optional(
    'SVC_LICENSE_SERVER_URL',
    url('http', 'https'),
    'Server that exchanges license keys (`svc_live_…`) for license tokens. It uses https, or outside production http to a loopback address.',
  ),
  licenseCacheDir: optional(
    'SVC_LICENSE_CACHE_DIR',
    text,
    'Directory that caches the installation id and the license token of the last exchange.',
    { shownDefault: '`license` in `SVC_DATA_DIR`' },
  ),
  plugins: optional(
    'SVC_PLUGINS',
    listOf(...FEATURE_NAMES),
    'Features that this installation starts. All others are unavailable.',
    { shownDefault: 'unset: every feature' },
  ),
} as const;
