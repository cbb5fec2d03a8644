import { eventParser } from '../event-parser.ts';
import type { Actor, DomainEvent, RecordedEvent } from '../event.ts';

/** Events of a comment, stream `comment-<tenant>.<comment id>`. The actor of the first event is the author. */
export type CommentEvent =
  | DomainEvent<
      'CommentAdded',
      {
        readonly entry_id: string;
        readonly body: string;
        /** Id of the comment that this one answers. */
        readonly parent?: string;
      }
    >
  | DomainEvent<'CommentDeleted', { readonly entry_id: string }>;

/** A comment's event with its actor. */
export type AttributedCommentEvent = CommentEvent & { readonly actor: Actor };

export const commentEvents = eventParser<CommentEvent>('comment', ['CommentAdded', 'CommentDeleted']);

/**
 * Reads a stored event of a comment's stream.
 * @throws TypeError for an event of another aggregate
 */
export function parseCommentEvent(event: RecordedEvent): AttributedCommentEvent {
  return { ...commentEvents.parse(event), actor: event.metadata.actor };
}
