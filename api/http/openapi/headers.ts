import type { JsonObject } from '../../../domain/json.ts';

const POSITION = '^[0-9]{20}$';
const seconds = (description: string): JsonObject => ({ description, schema: { type: 'integer', minimum: 0 } });
const text = (description: string, schema: JsonObject = {}): JsonObject => ({ description, schema: { type: 'string', ...schema } });

/** Headers of answers, by name: components of the document (spec 4, general rules). */
export const ANSWER_HEADERS = {
  ETag: text('The version of the entry or of the document, for If-Match and If-None-Match', { examples: ['"3"'] }),
  'RateLimit-Limit': seconds('Requests that the bucket of the strictest limit holds; where a limit matched'),
  'RateLimit-Policy': text('`<burst>;w=1`; where a limit matched', { examples: ['100;w=1'] }),
  'RateLimit-Remaining': seconds('Requests left in that bucket'),
  'RateLimit-Reset': seconds('Seconds until it is full again'),
  'Retry-After': seconds('Seconds to wait before trying again'),
  'WWW-Authenticate': text('How to sign in', { examples: ['Bearer realm="palimpsest"'] }),
  'X-Commit-Position': text('Where the write stands in the log; as X-Min-Position of a read it makes sure that the read sees it. Only where something was written', { pattern: POSITION, examples: ['00000000000000000042'] }),
  'X-Correlation-ID': text('The one of the request, or a new one'),
  'X-Projection-Lag': text('`true` where the read models had not caught up with the write after 5 seconds', { enum: ['true'] }),
  'X-Request-Id': text('Names this request in the log'),
  'X-Schema-Revision': text('How often the content type was saved: names of fields may differ between two of them', { examples: ['4'] }),
  'X-Total-Count': text('How many there are in all; only with count=true', { examples: ['128'] }),
} as const satisfies Readonly<Record<string, JsonObject>>;
export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** Headers of requests beside the credential, by name: components of the document. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': { description: 'A repeat with the same key and body within 24 hours answers what the first request did', schema: { type: 'string', minLength: 1, maxLength: 255 } },
  'If-Match': { description: 'Only when this is still the version: else 412', schema: { type: 'string' }, example: '"3"' },
  'If-None-Match': { description: 'Answers 304 without a body when this is still the version', schema: { type: 'string' }, example: '"3"' },
  'Last-Event-ID': { description: 'Where a stream goes on: the id of the last event that came', schema: { type: 'string', pattern: POSITION } },
  'X-Min-Position': { description: 'Waits up to 2 seconds until the read model has reached the position of a write, else 503', schema: { type: 'string', pattern: POSITION } },
  'X-Tenant-ID': { description: 'Slug of the tenant to act in; for super admins. Others act in the tenant of their credential', schema: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,62}$' } },
} as const satisfies Readonly<Record<string, JsonObject>>;
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** Both as `components.headers` and `components.parameters`. */
export function headerComponents(): { readonly headers: JsonObject; readonly parameters: JsonObject } {
  return {
    headers: ANSWER_HEADERS,
    parameters: Object.fromEntries(Object.entries(REQUEST_HEADERS).map(([name, declared]): [string, JsonObject] => [name, { name, in: 'header', required: false, ...declared }])),
  };
}

/** References to headers of answers. */
export function answerHeaders(names: readonly AnswerHeader[]): JsonObject {
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** References to headers of requests. */
export function requestHeaders(names: readonly RequestHeader[]): readonly JsonObject[] {
  return [...new Set(names)].map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
