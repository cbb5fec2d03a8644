import { type AppError, refusal } from '../../../domain/errors.ts';

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/** @returns the port's refusal for an error of the client, found in the error or its causes */
export function toRefusal(error: unknown): AppError {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    if ('type' in current && typeof current.type === 'string' && TOO_LARGE.has(current.type))
      return refusal('too_large', { message: 'the message is too large for its topic', cause: error });
  }
  return refusal('unavailable', { message: 'the message broker is unavailable', cause: error });
}
