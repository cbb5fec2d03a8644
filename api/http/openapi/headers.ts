import type { JsonObject } from '../../../domain/json.ts';

const POSITION = '^[0-9]{20}$';
const seconds = (description: string): JsonObject => ({ description, schema: { type: 'integer', minimum: 0 } });
const text = (description: string, schema: JsonObject = {}): JsonObject => ({
  description,
  schema: { type: 'string', ...schema },
});

/** Response headers by name: components of the document. */
const RESPONSE_HEADERS = {
  ETag: text('The version of the entry or the document, for If-Match and If-None-Match', { examples: ['"3"'] }),
  'RateLimit-Limit': seconds(
    'Size of the bucket of the strictest matching limit, in requests. Absent when no limit matched',
  ),
  'RateLimit-Policy': text('`<burst>;w=1`. Absent when no limit matched', { examples: ['100;w=1'] }),
  'RateLimit-Remaining': seconds('Requests that remain in the bucket'),
  'RateLimit-Reset': seconds('Seconds until the bucket is full'),
  'Retry-After': seconds('Seconds to wait before the next attempt'),
  'WWW-Authenticate': text('The authentication scheme', { examples: ['Bearer realm="palimpsest"'] }),
  'X-Commit-Position': text(
    'Position of the write in the log. A read that sends it as X-Min-Position sees the write. Absent when nothing was written',
    { pattern: POSITION, examples: ['00000000000000000042'] },
  ),
  'X-Correlation-ID': text('The correlation id of the request, or a new one'),
  'X-Projection-Lag': text('`true` when the read models have not caught up with the write after 5 seconds', {
    enum: ['true'],
  }),
  'X-Request-Id': text('The id of this request in the log'),
  'X-Schema-Revision': text('How often the content type was saved. Field names may differ between two revisions', {
    examples: ['4'],
  }),
  'X-Total-Count': text('The total number of items; only with count=true', { examples: ['128'] }),
} as const satisfies Readonly<Record<string, JsonObject>>;
export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** Request headers, except credentials, by name: components of the document. */
const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'A repeated request with the same key and body gets the response of the first one for 24 hours',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'Performs the request only if this is the current version, else answers 412',
    schema: { type: 'string' },
    example: '"3"',
  },
  'If-None-Match': {
    description: 'Answers 304 without a body if this is the current version',
    schema: { type: 'string' },
    example: '"3"',
  },
  'Last-Event-ID': {
    description: 'Resumes a stream after this event: the id of the last event received',
    schema: { type: 'string', pattern: POSITION },
  },
  'X-Min-Position': {
    description: 'Waits up to 2 seconds until the read models have reached this position, else answers 503',
    schema: { type: 'string', pattern: POSITION },
  },
  'X-Tenant-ID': {
    description:
      'Slug of the tenant of the request, for super admins. Other callers act in the tenant of their credential',
    schema: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,62}$' },
  },
} as const satisfies Readonly<Record<string, JsonObject>>;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** The response headers as `components.headers`, and the request headers as `components.parameters`. */
export function headerComponents(): { readonly headers: JsonObject; readonly parameters: JsonObject } {
  return {
    headers: RESPONSE_HEADERS,
    parameters: Object.fromEntries(
      Object.entries(REQUEST_HEADERS).map(([name, declared]): [string, JsonObject] => [
        name,
        { name, in: 'header', required: false, ...declared },
      ]),
    ),
  };
}

/** References to response headers. */
export function responseHeaders(names: readonly ResponseHeader[]): JsonObject {
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** References to request headers. */
export function requestHeaders(names: readonly RequestHeader[]): readonly JsonObject[] {
  return [...new Set(names)].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
