import { REDACTED, type RequestHeaders, problemOfHeaders } from '../../domain/automation/request-headers.ts';
import type { TriggerEvent } from '../../domain/automation/trigger.ts';
import { type AppError, type FieldError, refusal } from '../../domain/errors.ts';
import { requirePaid } from '../platform/license-refusals.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/** Request body that creates or replaces a webhook. Null means the same as a missing member, except for `secret`. */
export type WebhookInput = {
  readonly name: string;
  readonly url: string;
  readonly events?: readonly TriggerEvent[] | null;
  readonly schemas?: readonly string[] | null;
  /** Missing: a replacement keeps the stored secret. Null or empty: the webhook has no secret. */
  readonly secret?: string | null;
  readonly enabled?: boolean | null;
  readonly headers?: RequestHeaders | null;
  readonly include_fields?: readonly string[] | null;
  readonly exclude_fields?: readonly string[] | null;
  readonly max_response_size?: number | null;
  readonly payload_template?: string | null;
  readonly field_filters?: Readonly<Record<string, string>> | null;
  readonly jsonpath_filter?: string | null;
  readonly max_retries?: number | null;
  readonly retry_delay_seconds?: number | null;
};

/** A checked input with its defaults. URL, headers and secret are in plain text. */
export type AcceptedWebhook = {
  readonly name: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Undefined: the input had no member `secret`. */
  readonly secret: string | null | undefined;
  readonly plain: {
    readonly events: readonly TriggerEvent[];
    readonly schemas: readonly string[];
    readonly enabled: boolean;
    readonly include_fields: readonly string[];
    readonly exclude_fields: readonly string[];
    readonly max_response_size: number;
  };
};

/** In characters. */
export const MIN_SECRET_LENGTH = 16;
/** In bytes. */
const DEFAULT_RESPONSE_SIZE = 1_048_576;
const MAX_RETRIES = 100;
const MAX_RETRY_DELAY_SECONDS = 3_600;

/**
 * Checks a webhook before it is stored: first the values, then the license, then the address of the URL, which is
 * resolved.
 * @throws `invalid_input` with `fields`, `payment_required`
 */
export async function acceptWebhook(
  input: WebhookInput,
  { outbound, entitlements }: Pick<WebhookDependencies, 'outbound' | 'entitlements'>,
): Promise<AcceptedWebhook> {
  const problems = problemsOf(input);
  if (problems.length > 0) throw refusal('invalid_input', { fields: problems });
  checkRetryNumbers(input);
  checkPaidOptions(input, entitlements);
  const unsafe = await outbound.check(input.url);
  if (unsafe !== undefined) throw refusal('invalid_input', { fields: [{ field: 'url', message: unsafe }] });
  return {
    name: input.name,
    url: input.url,
    headers: input.headers ?? {},
    secret: input.secret === '' ? null : input.secret,
    plain: {
      events: distinct(input.events),
      schemas: distinct(input.schemas),
      enabled: input.enabled ?? true,
      include_fields: distinct(input.include_fields),
      exclude_fields: distinct(input.exclude_fields),
      // 0 means the default, as a missing value does.
      max_response_size:
        input.max_response_size === 0 ? DEFAULT_RESPONSE_SIZE : (input.max_response_size ?? DEFAULT_RESPONSE_SIZE),
    },
  };
}

function problemsOf({ secret, headers, include_fields, exclude_fields }: WebhookInput): readonly FieldError[] {
  const problems: FieldError[] = [];
  if (secret !== undefined && secret !== null && secret !== '' && secret.length < MIN_SECRET_LENGTH)
    problems.push({ field: 'secret', message: `must have at least ${MIN_SECRET_LENGTH} characters` });
  const headerProblem = problemOfHeaders(headers ?? {});
  if (headerProblem !== undefined) problems.push({ field: 'headers', message: headerProblem });
  if ((include_fields ?? []).length > 0 && (exclude_fields ?? []).length > 0)
    problems.push({ field: 'exclude_fields', message: 'use either include_fields or exclude_fields' });
  return problems;
}

/** The message is `validation failed` for a number below its range, and `invalid input` for one above it. */
function checkRetryNumbers({ max_retries, retry_delay_seconds }: WebhookInput): void {
  const numbers = [
    { field: 'max_retries', value: max_retries ?? 0, most: MAX_RETRIES },
    { field: 'retry_delay_seconds', value: retry_delay_seconds ?? 0, most: MAX_RETRY_DELAY_SECONDS },
  ];
  for (const { field, value, most } of numbers) {
    if (value < 0)
      throw refusal('invalid_input', {
        message: 'validation failed',
        fields: [{ field, message: 'must not be negative' }],
      });
    if (value > most) throw refusal('invalid_input', { fields: [{ field, message: `must be at most ${most}` }] });
  }
}

/** Refuses options that need the capability `webhook-pro`, when they have a value. */
function checkPaidOptions(input: WebhookInput, entitlements: Entitlements): void {
  const paid = (
    ['payload_template', 'field_filters', 'jsonpath_filter', 'max_retries', 'retry_delay_seconds'] as const
  ).filter((name) => isSet(input[name]));
  if (paid.length === 0) return;
  requirePaid({ plugin: 'webhook', feature: 'webhook-pro' }, { entitlements });
  // No delivery applies these options yet. Storing a filter would send data that the owner wants to hold back.
  throw refusal('invalid_input', {
    fields: paid.map((field) => ({ field, message: 'is not available on this instance yet' })),
  });
}

function isSet(value: string | number | Readonly<Record<string, string>> | null | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function distinct<T>(values: readonly T[] | null | undefined): readonly T[] {
  return [...new Set(values ?? [])];
}

/** Refusal of a header whose value is `[redacted]` although no value is stored under its name. */
export function unknownRedactedHeader(): AppError {
  return refusal('invalid_input', {
    fields: [{ field: 'headers', message: `${REDACTED} stands for a stored value, and there is none` }],
  });
}
