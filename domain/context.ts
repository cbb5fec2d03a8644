import type { Actor } from './event.ts';

/**
 * Caller, correlation, clock and ids of a command. Clock and ids are injected, so that commands are deterministic in
 * tests.
 */
export type CommandContext = {
  /** Slug of the tenant that the command acts in. */
  readonly tenant: string;
  readonly actor: Actor;
  readonly correlationId: string;
  /** Id of the event or request that caused this command; the correlation id when none is known. */
  readonly causationId: string;
  /** W3C `traceparent` of the request or batch that runs the command; undefined without tracing. */
  readonly traceparent?: string | undefined;
  /** The current time. */
  readonly now: () => Date;
  /** A new UUID v7. */
  readonly newId: () => string;
  /** Set while a request with an `Idempotency-Key` runs. */
  readonly repeatable?: RepeatableRequest | undefined;
};

/**
 * A request that the client may send again after a lost response. Every attempt has the same `causationId`, the same
 * time and the same sequence of ids. So an attempt finds the events of an earlier one by their `$causationId`.
 */
export type RepeatableRequest = {
  /** Id of this attempt. */
  readonly attempt: string;
  /** Whether an earlier attempt began and its outcome is not known. */
  readonly isRepeat: boolean;
  /** Reports that an earlier attempt had appended its events; nothing is appended again. */
  readonly foundEarlier: () => void;
};

/** The current time in the format of events: RFC 3339, UTC, milliseconds. */
export function timestamp(context: Pick<CommandContext, 'now'>): string {
  return context.now().toISOString();
}
