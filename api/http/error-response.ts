import { isTransient } from '../../application/ports/transient-errors.ts';
import { type AppError, isAppError, refusal } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { RouteResponse } from './route.ts';

/**
 * Maps every error to its response: `{error, code, fields?}` and the refusal's own members. Payment refusals have
 * members of their own instead. An error that is not a refusal of the catalogue becomes 500 without details, or 503 if
 * it is transient (the database is unreachable).
 */
export function errorResponse(error: unknown): RouteResponse {
  const appError = isAppError(error) ? error : refusal(isTransient(error) ? 'unavailable' : 'internal');
  return { status: appError.status, body: bodyOf(appError), headers: headersOf(appError) };
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
