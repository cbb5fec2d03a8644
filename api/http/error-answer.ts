import type { Json } from '../../domain/json.ts';
import type { AppError } from '../../domain/errors.ts';
import { isAppError, refusal } from '../../domain/errors.ts';
import { isPassing } from '../../projections/engine/faults.ts';
import type { Answer } from './route.ts';

/**
 * The one mapping of errors to answers (spec 4, general rules): `{error, code, fields?}` and the refusal's own members. Payment
 * refusals carry only the members that document 1 names. Anything that is no refusal of the catalogue answers 500 and tells nothing, or 503 where
 * the database is away for the moment.
 */
export function errorAnswer(error: unknown): Answer {
  const known = isAppError(error) ? error : refusal(isPassing(error) ? 'unavailable' : 'internal');
  return { status: known.status, body: bodyOf(known), headers: headersOf(known) };
}

function bodyOf(error: AppError): Json {
  if (error.code === 'payment_required' || error.code === 'cap_exceeded') return { error: error.code, ...error.body };
  return {
    error: error.message,
    code: error.code,
    ...(error.fields && { fields: error.fields.map(({ field, message }) => ({ field, message })) }),
    ...error.body,
  };
}

function headersOf(error: AppError): Record<string, string> {
  return {
    ...(error.status === 401 && { 'WWW-Authenticate': 'Bearer realm="palimpsest"' }),
    ...(error.status === 503 && { 'Retry-After': '1' }),
    ...error.headers,
  };
}
