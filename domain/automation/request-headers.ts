import { ownValue } from '../own-value.ts';
/** Maximum number of extra headers of a webhook. */
const MAX_HEADERS = 50;
/** Maximum length of a header value in characters. */
const MAX_VALUE = 4096;

/** Shown in place of a header's value. A client that sends it back keeps the stored value. */
export const REDACTED = '[redacted]';

export type RequestHeaders = { readonly [name: string]: string };

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** Lower-case names of the headers that frame a message or name its receiver. The outbound client sets them itself. */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-authorization',
  'proxy-connection',
]);
/** Headers that a webhook cannot set, besides `X-Webhook-*`. */
const RESERVED = new Set([...FRAMING_HEADERS, 'content-type', 'proxy-authenticate']);
const SECRET_WORDS = ['auth', 'token', 'secret', 'key', 'signature', 'password', 'session', 'cookie'];

/**
 * Checks extra request headers.
 * @returns the first problem, as a message for the owner of the webhook; undefined when there is none
 */
export function problemOfHeaders(headers: RequestHeaders): string | undefined {
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) return `at most ${MAX_HEADERS} headers`;
  const earlierNames = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) return 'a header name contains characters that are not allowed';
    if (RESERVED.has(lower) || lower.startsWith('x-webhook-'))
      return `the header ${name} is set by the delivery itself`;
    if (earlierNames.has(lower)) return `the header ${name} is given twice`;
    earlierNames.add(lower);
    const value = ownValue(headers, name) ?? '';
    if (value.length > MAX_VALUE || !VALUE.test(value))
      return `the value of the header ${name} contains characters that are not allowed or is too long`;
  }
  return undefined;
}

/** Whether the name of a header suggests that its value is a secret. */
export function isSecretHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_WORDS.some((word) => lower.includes(word));
}

/** Headers as the API shows them. Values of secret headers are redacted; with `all`, every value is. */
export function redactHeaders(headers: RequestHeaders, all: boolean): RequestHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, all || isSecretHeader(name) ? REDACTED : value]),
  );
}

/** Replaces `[redacted]` by the stored values. @returns undefined when a redacted header has no stored value */
export function restoreHeaders(headers: RequestHeaders, stored: RequestHeaders): RequestHeaders | undefined {
  const storedByName = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  const restored: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const real = value === REDACTED ? storedByName.get(name.toLowerCase()) : value;
    if (real === undefined) return undefined;
    restored.push([name, real]);
  }
  return Object.fromEntries(restored);
}
