import { Secret, TOTP } from 'otpauth';
import type { Totp } from '../../application/ports/totp.ts';

const STEP_SECONDS = 30;
const RULES = { algorithm: 'SHA1', digits: 6, period: STEP_SECONDS } as const;
const SECRET_BYTES = 20;
/** Name of the service that authenticator apps show. */
const ISSUER = 'Palimpsest';

/** Time-based one-time passwords (RFC 6238) with `otpauth`. */
export const totp: Totp = {
  newSecret: () => new Secret({ size: SECRET_BYTES }).base32,
  otpauthUrl: (secret, account) =>
    new TOTP({ ...RULES, issuer: ISSUER, label: account, secret: Secret.fromBase32(secret) }).toString(),
  stepOf(secret, code, now) {
    const timestamp = now.getTime();
    const delta = TOTP.validate({ ...RULES, token: code, secret: Secret.fromBase32(secret), timestamp, window: 1 });
    return delta === null ? undefined : Math.floor(timestamp / (STEP_SECONDS * 1000)) + delta;
  },
};
