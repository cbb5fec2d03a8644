import type { Actor } from './event.ts';

/** What a command knows of its caller and of the world; clock and ids are injected (style: no hidden time or chance). */
export type CommandContext = {
  /** Slug of the tenant the command acts in. */
  readonly tenant: string;
  readonly actor: Actor;
  readonly correlationId: string;
  /** Id of the event or request that caused this command; the correlation id where nothing nearer is known. */
  readonly causationId: string;
  /** W3C `traceparent` of what the command is done for, where traces are asked for. */
  readonly traceparent?: string | undefined;
  /** The present moment. */
  readonly now: () => Date;
  /** A new UUID v7. */
  readonly newId: () => string;
};

/** `now` as events write it: RFC 3339, UTC, milliseconds. */
export function timestamp(context: Pick<CommandContext, 'now'>): string {
  return context.now().toISOString();
}
