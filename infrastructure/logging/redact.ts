/** Keys whose values never stand in a log line. */
const SECRET = /passw|secret|token|authori[sz]ation|cookie|api[-_]?key|raw[-_]?key|pepper|private[-_]?key|encryption[-_]?key|credential|dsn|connection[-_]?string|^key$|^code$/i;
/** Names that look secret and are not. */
const HARMLESS = new Set(['key_id', 'keyId', 'token_id', 'tokenId', 'api_key_id', 'apiKeyId']);
/** User and password inside URLs, and bearer tokens inside texts. */
const URL_USER = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const BEARER = /\b(bearer\s+)[\w.~+/-]+=*/gi;
const KEYS = /\b(svc|svcat)_[0-9A-Za-z]{16,}\b/g;

const MAX_DEPTH = 6;

/** A copy of log fields that holds no secrets: by name of the key, and by form inside texts. Errors become plain objects. */
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
  for (const [name, member] of Object.entries(value)) copy[name] = SECRET.test(name) && !HARMLESS.has(name) && member !== undefined && typeof member !== 'boolean' && typeof member !== 'number' ? '[redacted]' : redact(member, depth + 1);
  return copy;
}

function redactText(text: string): string {
  if (text.length < 8) return text;
  return text.replace(URL_USER, '$1[redacted]@').replace(BEARER, '$1[redacted]').replace(KEYS, '$1_[redacted]');
}

/** Message, code and stack; nothing else an error may carry (a driver's parameters, a request). */
function redactError(error: Error, depth: number): unknown {
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  return {
    name: error.name,
    message: redactText(error.message),
    ...(code !== undefined && { error_code: code }),
    ...(error.stack !== undefined && { stack: redactText(error.stack) }),
    ...(error.cause !== undefined && { cause: redact(error.cause, depth + 1) }),
  };
}
