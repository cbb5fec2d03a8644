/**
 * One `@`, no spaces or control characters, a dot in the domain: refuses typing errors and accepts all real addresses.
 */
const ADDRESS = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}.]+(\.[^\s@\p{Cc}.]+)+$/u;
const MAX_LENGTH = 254;

/** Normalises an e-mail address: trimmed, lower case, NFC. @returns undefined when it is not an address */
export function normaliseEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase().normalize('NFC');
  return email.length <= MAX_LENGTH && ADDRESS.test(email) ? email : undefined;
}
