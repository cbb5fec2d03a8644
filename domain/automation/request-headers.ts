/** Most extra headers of a webhook, and the longest value, in characters. */
const MAX_HEADERS = 50;
const MAX_VALUE = 4096;

/** Reads back in place of a value (spec 3, webhook `headers`). */
export const REDACTED = '[redacted]';

export type RequestHeaders = { readonly [name: string]: string };

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that frame the message or that the delivery itself sets. */
const RESERVED = new Set(['host', 'content-length', 'content-type', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer', 'proxy-authorization', 'proxy-connection', 'proxy-authenticate']);
const SECRET_WORDS = ['auth', 'token', 'secret', 'key', 'signature', 'password', 'session', 'cookie'];

/** What is wrong with extra request headers; undefined when nothing is. */
export function problemOfHeaders(headers: RequestHeaders): string | undefined {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) return `at most ${MAX_HEADERS} headers`;
  const seen = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) return 'a header name contains characters that are not allowed';
    if (RESERVED.has(lower) || lower.startsWith('x-webhook-')) return `the header ${name} is set by the delivery itself`;
    if (seen.has(lower)) return `the header ${name} is given twice`;
    seen.add(lower);
    const value = headers[name] ?? '';
    if (value.length > MAX_VALUE || !VALUE.test(value)) return `the value of the header ${name} contains characters that are not allowed or is too long`;
  }
  return undefined;
}

/** Whether a header's value is a secret by its name. */
export function isSecretHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_WORDS.some((word) => lower.includes(word));
}

/** Headers as they read back: secret values redacted, or all of them. */
export function redactHeaders(headers: RequestHeaders, all: boolean): RequestHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, all || isSecretHeader(name) ? REDACTED : value]));
}

/** Puts stored values in for `[redacted]`. @returns undefined where a redacted name has no stored value */
export function restoreHeaders(given: RequestHeaders, stored: RequestHeaders): RequestHeaders | undefined {
  const known = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const restored: [string, string][] = [];
  for (const [name, value] of Object.entries(given)) {
    const real = value === REDACTED ? known.get(name.toLowerCase()) : value;
    if (real === undefined) return undefined;
    restored.push([name, real]);
  }
  return Object.fromEntries(restored);
}
