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
};

/** The current time in the format of events: RFC 3339, UTC, milliseconds. */
export function timestamp(context: Pick<CommandContext, 'now'>): string {
  return context.now().toISOString();
}
