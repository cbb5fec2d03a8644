import { ERRORS, type ErrorCode } from '../../../domain/errors.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Components } from './components.ts';
import { type ResponseHeader, responseHeaders } from './headers.ts';

const CODES = Object.keys(ERRORS).filter(isErrorCode);
const text = (description: string): JsonObject => ({ type: 'string', description });

/** Schemas of the bodies of refusals. */
export const ERROR_SCHEMAS: JsonObject = {
  Error: {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: text('The message, for people'),
      code: {
        type: 'string',
        description: 'The code, for programs',
        enum: CODES.filter((code) => !isPayment(code)).toSorted(),
      },
      fields: {
        type: 'array',
        description: 'The invalid members of the body, with the reasons',
        items: { $ref: '#/components/schemas/FieldError' },
      },
      hint: text('What the request can change, when a response would be too large'),
    },
  },
  FieldError: {
    type: 'object',
    required: ['field', 'message'],
    properties: { field: text('Dotted path of the member'), message: text('The reason') },
  },
  PaymentRequired: {
    type: 'object',
    required: ['error', 'plugin', 'feature', 'upgrade_url'],
    properties: {
      error: { const: 'payment_required' },
      plugin: text('The feature that the capability belongs to'),
      feature: text('The capability that the license does not grant'),
      upgrade_url: text('Where to buy it'),
    },
  },
  CapExceeded: {
    type: 'object',
    required: ['error', 'cap', 'limit', 'current', 'upgrade_url'],
    properties: {
      error: { const: 'cap_exceeded' },
      cap: text('The name of the exceeded limit'),
      limit: { type: 'integer' },
      current: { type: 'integer' },
      upgrade_url: text('Where to raise the limit'),
    },
  },
};

/** One example for every refusal: `components.examples`. */
export function errorExamples(): JsonObject {
  return Object.fromEntries(
    CODES.toSorted().map((code) => [code, { summary: ERRORS[code].message, value: exampleBody(code) }]),
  );
}

/** The response of a status with these codes. Operations with the same codes share one component. */
export function refusalResponse(status: number, codes: readonly ErrorCode[], components: Components): JsonObject {
  const sorted = [...new Set(codes)].toSorted();
  return components.response(`${status}-${sorted.join('-')}`, () => ({
    description: [...new Set(sorted.map((code) => `\`${code}\`: ${ERRORS[code].message}`))].join('; '),
    headers: responseHeaders(['X-Request-Id', 'X-Correlation-ID', ...(HEADERS[status] ?? [])]),
    content: {
      'application/json': {
        schema: schemaOf(sorted),
        examples: Object.fromEntries(sorted.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }));
}

const HEADERS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit-Limit', 'RateLimit-Policy', 'RateLimit-Remaining', 'RateLimit-Reset'],
  503: ['Retry-After'],
};

function schemaOf(codes: readonly ErrorCode[]): JsonObject {
  const names = new Set(
    codes.map((code) =>
      code === 'payment_required' ? 'PaymentRequired' : code === 'cap_exceeded' ? 'CapExceeded' : 'Error',
    ),
  );
  const references = [...names].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return references.length === 1 && references[0] ? references[0] : { anyOf: references };
}

function exampleBody(code: ErrorCode): JsonObject {
  if (code === 'payment_required')
    return {
      error: code,
      plugin: 'content',
      feature: 'feature:content-pro',
      upgrade_url: 'https://example.org/upgrade',
    };
  if (code === 'cap_exceeded')
    return { error: code, cap: 'apikey.keys', limit: 5, current: 5, upgrade_url: 'https://example.org/upgrade' };
  return {
    error: ERRORS[code].message,
    code,
    ...(code === 'validation_failed' && { fields: [{ field: 'title', message: 'is required' }] }),
  };
}

function isPayment(code: ErrorCode): boolean {
  return code === 'payment_required' || code === 'cap_exceeded';
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
