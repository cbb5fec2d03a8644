import { type AppError, refusal } from '../../domain/errors.ts';

/** The refusal of a query parameter; `name` is the name that the client sent. */
export function invalidParameter(name: string): AppError {
  return refusal('invalid_query_parameter', { message: `invalid query parameter: ${name.slice(0, 200)}` });
}

/**
 * Parses a query parameter that is a whole number from `min` to `max`. An absent parameter is `fallback`.
 * @throws `invalid_query_parameter` with its name
 */
export function wholeNumber(
  name: string,
  text: string | undefined,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw invalidParameter(name);
  return value;
}
