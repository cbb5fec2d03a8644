import { type AppError, refusal } from '../../../domain/errors.ts';

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);
/** The broker refuses the record itself, so that no later attempt succeeds. */
const REFUSED = new Set(['INVALID_RECORD', 'INVALID_TIMESTAMP']);
/** The client does not know error 90, PRODUCER_FENCED, by name. */
const FENCED = /^INVALID_PRODUCER_EPOCH$|^Unknown error code 90$/;

/** @returns the port's refusal for an error of the client, found in the error or its causes */
export function toRefusal(error: unknown): AppError {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const type = 'type' in current && typeof current.type === 'string' ? current.type : '';
    if (TOO_LARGE.has(type))
      return refusal('too_large', { message: 'the message is too large for its topic', cause: error });
    if (REFUSED.has(type)) return refusal('message_refused', { message: current.message, cause: error });
    if (FENCED.test(type) || FENCED.test(current.message))
      return refusal('lease_lost', { message: 'another process publishes under this name', cause: error });
  }
  return refusal('unavailable', { message: 'the message broker is unavailable', cause: error });
}
