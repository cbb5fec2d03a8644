import type { Expected } from '../../application/ports/event-store.ts';
import { type AppError, refusal } from '../../domain/errors.ts';
import type { StreamRevision } from '../../domain/event.ts';

/** The details of a conflict; the `cause` of a `conflict` that an event store throws. */
export type ConflictCause = {
  readonly stream: string;
  readonly expected: Expected;
  /** Last revision of the stream; -1 when the stream does not exist, undefined when the store does not report it. */
  readonly actual: StreamRevision | undefined;
};

/**
 * The refusal of a write whose expected revision does not match. The details are in `cause`, because clients may see
 * the message.
 */
export function conflictRefusal(cause: ConflictCause): AppError {
  return refusal('conflict', { cause });
}
