/** One `@`, no spaces or controls, a dot inside the domain: enough to refuse slips without refusing real addresses. */
const ADDRESS = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}.]+(\.[^\s@\p{Cc}.]+)+$/u;
const MAX_LENGTH = 254;

/** An e-mail address as accounts are found by: trimmed, lower-case. @returns undefined when it is no address. */
export function normaliseEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase().normalize('NFC');
  return email.length <= MAX_LENGTH && ADDRESS.test(email) ? email : undefined;
}
