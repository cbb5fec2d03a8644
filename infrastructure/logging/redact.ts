/** Names of members whose values are redacted. */
const SECRET =
  /passw|secret|token|authori[sz]ation|cookie|api[-_]?key|raw[-_]?key|pepper|private[-_]?key|encryption[-_]?key|credential|dsn|connection[-_]?string|^key$|^code$/i;
/** Names that match `SECRET` although their values are not secret. */
const NOT_SECRET = new Set(['key_id', 'keyId', 'token_id', 'tokenId', 'api_key_id', 'apiKeyId']);
/** User information in URLs, bearer tokens and keys of this service, anywhere in a text. */
const URL_USER = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const BEARER = /\b(bearer\s+)[\w.~+/-]+=*/gi;
const KEYS = /\b(svc|svcat)_[0-9A-Za-z]{16,}\b/g;

const MAX_DEPTH = 6;

/**
 * Copies log fields without secrets, which it finds by the name of a member and by their form in texts. Errors become
 * plain objects.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.toISOString();
  if (depth === MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, 100).map((element) => redact(element, depth + 1));
  if (ArrayBuffer.isView(value)) return '[bytes]';
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value))
    copy[name] =
      SECRET.test(name) &&
      !NOT_SECRET.has(name) &&
      member !== undefined &&
      typeof member !== 'boolean' &&
      typeof member !== 'number'
        ? '[redacted]'
        : redact(member, depth + 1);
  return copy;
}

function redactText(text: string): string {
  if (text.length < 8) return text;
  return text.replace(URL_USER, '$1[redacted]@').replace(BEARER, '$1[redacted]').replace(KEYS, '$1_[redacted]');
}

/**
 * Keeps name, message, code, stack and cause. Other members may contain secrets, such as parameters of a database
 * query.
 */
function redactError(error: Error, depth: number): unknown {
  const code =
    'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  return {
    name: error.name,
    message: redactText(error.message),
    ...(code !== undefined && { error_code: code }),
    ...(error.stack !== undefined && { stack: redactText(error.stack) }),
    ...(error.cause !== undefined && { cause: redact(error.cause, depth + 1) }),
  };
}
