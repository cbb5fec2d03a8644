import { invalidField } from '../../../domain/errors.ts';

/**
 * Parses a time of a body; null is like an absent member.
 * @throws `validation_failed` for a date that does not exist
 */
export function timeOf(text: string | null | undefined, field: string): Date | undefined {
  if (text === undefined || text === null) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw invalidField(field, 'must be an RFC 3339 time');
  return date;
}
