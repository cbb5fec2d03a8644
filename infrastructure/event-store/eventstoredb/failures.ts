import { ErrorType, isCommandError } from '@eventstore/db-client';
import type { Expected } from '../../../application/ports/event-store.ts';
import { type AppError, isAppError, refusal } from '../../../domain/errors.ts';
import { conflictRefusal } from '../conflict.ts';

/** @returns the client's error type; undefined when the error does not come from the client */
export function failureType(error: unknown): ErrorType | undefined {
  return error instanceof Error && isCommandError(error) ? error.type : undefined;
}

/** Messages of connection errors after which the call was certainly not sent. */
const NOT_SENT =
  /no connection established|failed to connect|name resolution failed|channel closed before call started/i;
const PERMISSION_DENIED = 7;

function grpcCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** @returns the port's refusal for a failed read: access denied, otherwise unavailable, which may be retried */
export function refusalOfRead(error: unknown): AppError {
  if (isAppError(error)) return error;
  if (failureType(error) === ErrorType.ACCESS_DENIED || grpcCode(error) === PERMISSION_DENIED)
    return refusal('store_access_denied', { cause: error });
  return refusal('store_unavailable', { cause: error });
}

/** @returns the port's refusal for a failed write; `outcome_unknown` unless the write certainly had no effect */
export function refusalOfWrite(error: unknown, stream: string, expected: Expected): AppError {
  if (isAppError(error)) return error;
  switch (failureType(error)) {
    case ErrorType.WRONG_EXPECTED_VERSION:
      return conflictRefusal({ stream, expected, actual: actualOf(error) });
    case ErrorType.STREAM_DELETED:
      return refusal('stream_deleted', { cause: error });
    case ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED:
      return refusal('too_large', { cause: error });
    case ErrorType.ACCESS_DENIED:
      return refusal('store_access_denied', { cause: error });
    case ErrorType.NOT_LEADER:
      return refusal('store_unavailable', { cause: error });
    default:
      if (grpcCode(error) === PERMISSION_DENIED) return refusal('store_access_denied', { cause: error });
      if (error instanceof Error && NOT_SENT.test(error.message)) return refusal('store_unavailable', { cause: error });
      return refusal('outcome_unknown', { cause: error });
  }
}

/** @returns the stream's actual revision in a conflict; -1 when the stream does not exist */
export function actualOf(error: unknown): number | undefined {
  const actual: unknown =
    typeof error === 'object' && error !== null && 'actualVersion' in error ? error.actualVersion : undefined;
  if (actual === 'no_stream') return -1;
  return typeof actual === 'bigint' && actual >= -1n && actual <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(actual)
    : undefined;
}
