import type { components } from '../generated/operations.ts';

/** Machine-readable reason of a refusal. Later versions of the service may add codes. */
export type ErrorCode = components['schemas']['Error']['code'] | 'payment_required' | 'cap_exceeded' | 'invalid_answer';

/** One invalid member of a request body. */
export type FieldError = components['schemas']['FieldError'];

/** An error response of the service. Match it by `code`. */
export class PalimpsestError extends Error {
  readonly status: number;
  readonly code: ErrorCode | (string & {});
  /** The invalid members of the request body; empty for other errors. */
  readonly fields: readonly FieldError[];
  /** The whole response body: parsed JSON, or text. */
  readonly body: unknown;
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined;

  constructor({
    status,
    body,
    requestId,
  }: {
    readonly status: number;
    readonly body: unknown;
    readonly requestId?: string | undefined;
  }) {
    const { error, code, fields } = membersOf(body);
    super(typeof error === 'string' ? error : `the service answered ${status}`);
    this.name = 'PalimpsestError';
    this.status = status;
    this.code =
      typeof code === 'string' ? code : typeof error === 'string' && status === 402 ? error : 'invalid_answer';
    this.fields = Array.isArray(fields) ? fields.filter(isFieldError) : [];
    this.body = body;
    this.requestId = requestId;
  }
}

function membersOf(body: unknown): { readonly error?: unknown; readonly code?: unknown; readonly fields?: unknown } {
  return typeof body === 'object' && body !== null ? body : {};
}

function isFieldError(value: unknown): value is FieldError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'field' in value &&
    typeof value.field === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
