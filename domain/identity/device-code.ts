/**
 * Letters of user codes: no vowels, so that codes form no words, and no letters that are easily confused (RFC 8628,
 * 6.1).
 */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

const FORM = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_LENGTH}}$`);

/** Normalises a typed user code; case, hyphens and spaces are ignored. @returns undefined for any other form */
export function parseUserCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '').toUpperCase();
  return FORM.test(code) ? code : undefined;
}

/** Formats a user code for display: `WDJB-MJHT`. */
export function formatUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;
}
