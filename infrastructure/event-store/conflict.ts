import type { Expected } from '../../application/ports/event-store.ts';
import type { AppError } from '../../domain/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { StreamRevision } from '../../domain/event.ts';

/** What a conflict is about; the `cause` of a `conflict` that an event store throws. */
export type ConflictCause = {
  readonly stream: string;
  readonly expected: Expected;
  /** Last revision of the stream; -1 where there is none, undefined where the store does not tell. */
  readonly actual: StreamRevision | undefined;
};

/** The refusal of a write whose expectation does not hold. The details stand in `cause`, not in the message that a client may see. */
export function conflict(cause: ConflictCause): AppError {
  return refusal('conflict', { cause });
}
