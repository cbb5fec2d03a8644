import { refusal } from '../../../domain/errors.ts';

/** A moment of a body; null and nothing are none. @throws `validation_failed` for a day that the calendar does not have */
export function timeOf(text: string | null | undefined, field: string): Date | undefined {
  if (text === undefined || text === null) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw refusal('validation_failed', { fields: [{ field, message: 'must be an RFC 3339 time' }] });
  return date;
}
