/** Letters of user codes: no vowels, so that no words come about, and none that looks or sounds like another (RFC 8628, 6.1). */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LENGTH = 8;

const FORM = new RegExp(`^[${USER_CODE_LETTERS}]{${USER_CODE_LENGTH}}$`);

/** A user code as it is compared: what a person typed, in any case, with any dashes and spaces. @returns undefined when it can be none */
export function parseUserCode(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, '').toUpperCase();
  return FORM.test(code) ? code : undefined;
}

/** A user code as it is shown: `WDJB-MJHT`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, USER_CODE_LENGTH / 2)}-${code.slice(USER_CODE_LENGTH / 2)}`;
}
