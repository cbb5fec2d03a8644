import { randomBytes, randomInt } from 'node:crypto';
import type { RandomSecrets } from '../../application/ports/random-secrets.ts';
import { USER_CODE_LENGTH, USER_CODE_LETTERS } from '../../domain/identity/device-code.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Lower-case letters and digits without letters that look like digits. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
/** Larger bytes are skipped: they would make some characters more likely than others. */
const UNBIASED_LIMIT = 62 * 4;

/** Secrets from the operating system's random generator. */
export const randomSecrets: RandomSecrets = {
  apiKey: () => `svc_${base62(40)}`,
  adminToken: () => `svcat_${base62(40)}`,
  refreshToken: () => randomBytes(32).toString('base64url'),
  userCode: () =>
    Array.from({ length: USER_CODE_LENGTH }, () => USER_CODE_LETTERS.charAt(randomInt(USER_CODE_LETTERS.length))).join(
      '',
    ),
  recoveryCode: () =>
    Array.from(
      randomBytes(20),
      (byte, index) => `${index > 0 && index % 5 === 0 ? '-' : ''}${BASE32.charAt(byte % 32)}`,
    ).join(''),
};

function base62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < UNBIASED_LIMIT && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}
