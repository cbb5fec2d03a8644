import type { RequestHeaders } from '../../domain/automation/request-headers.ts';
import { problemOfHeaders, REDACTED } from '../../domain/automation/request-headers.ts';
import type { TriggerEvent } from '../../domain/automation/trigger.ts';
import type { FieldError } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';
import { requirePaid } from '../platform/gates.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { WebhookDependencies } from './webhook-dependencies.ts';

/** The body of `POST` and `PUT` (spec 3, webhook). Null and missing are the same, but for `secret`. */
export type WebhookInput = {
  readonly name: string;
  readonly url: string;
  readonly events?: readonly TriggerEvent[] | null;
  readonly schemas?: readonly string[] | null;
  /** Missing keeps the stored one on `PUT`; null or empty removes it. */
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

/** An input that may be stored, with the defaults filled in; URL and headers in clear. */
export type AcceptedWebhook = {
  readonly name: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Undefined: none was sent. */
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

/** Characters (spec 3, limits). */
export const MIN_SECRET = 16;
const DEFAULT_RESPONSE_SIZE = 1_048_576;
const MAX_RETRIES = 100;
const MAX_RETRY_DELAY_SECONDS = 3_600;

/**
 * Checks a webhook before it is stored: values, then what the license allows, then the address, which is looked up.
 * @throws `invalid_input` with `fields`, `payment_required`
 */
export async function acceptWebhook(input: WebhookInput, { outbound, entitlements }: Pick<WebhookDependencies, 'outbound' | 'entitlements'>): Promise<AcceptedWebhook> {
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
      // 0 is no limit anyone can mean.
      max_response_size: input.max_response_size === 0 ? DEFAULT_RESPONSE_SIZE : (input.max_response_size ?? DEFAULT_RESPONSE_SIZE),
    },
  };
}

function problemsOf({ secret, headers, include_fields, exclude_fields }: WebhookInput): readonly FieldError[] {
  const problems: FieldError[] = [];
  if (secret !== undefined && secret !== null && secret !== '' && secret.length < MIN_SECRET) problems.push({ field: 'secret', message: `must have at least ${MIN_SECRET} characters` });
  const ofHeaders = problemOfHeaders(headers ?? {});
  if (ofHeaders !== undefined) problems.push({ field: 'headers', message: ofHeaders });
  if ((include_fields ?? []).length > 0 && (exclude_fields ?? []).length > 0) problems.push({ field: 'exclude_fields', message: 'use either include_fields or exclude_fields' });
  return problems;
}

/** Spec 3, errors: above its range `invalid input`, below it `validation failed`. */
function checkRetryNumbers({ max_retries, retry_delay_seconds }: WebhookInput): void {
  const numbers = [
    { field: 'max_retries', value: max_retries ?? 0, most: MAX_RETRIES },
    { field: 'retry_delay_seconds', value: retry_delay_seconds ?? 0, most: MAX_RETRY_DELAY_SECONDS },
  ];
  for (const { field, value, most } of numbers) {
    if (value < 0) throw refusal('invalid_input', { message: 'validation failed', fields: [{ field, message: 'must not be negative' }] });
    if (value > most) throw refusal('invalid_input', { fields: [{ field, message: `must be at most ${most}` }] });
  }
}

/** Names of the paid options that an input sets to anything but nothing. */
function checkPaidOptions(input: WebhookInput, entitlements: Entitlements): void {
  const paid = (['payload_template', 'field_filters', 'jsonpath_filter', 'max_retries', 'retry_delay_seconds'] as const).filter((name) => isSet(input[name]));
  if (paid.length === 0) return;
  requirePaid({ plugin: 'webhook', feature: 'webhook-pro' }, entitlements);
  // Storing a filter that nothing applies would send what its owner holds back.
  throw refusal('invalid_input', { fields: paid.map((field) => ({ field, message: 'is not available on this instance yet' })) });
}

function isSet(value: string | number | Readonly<Record<string, string>> | null | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function distinct<T>(values: readonly T[] | null | undefined): readonly T[] {
  return [...new Set(values ?? [])];
}

/** Refuses `[redacted]` where nothing is stored under that name. */
export function redactedHeaderRefusal(): Error {
  return refusal('invalid_input', { fields: [{ field: 'headers', message: `${REDACTED} stands for a stored value, and there is none` }] });
}
