import type { Decider } from '../decider.ts';
import { refusal } from '../errors.ts';
import type { Actor, DomainEvent, RecordedEvent } from '../event.ts';

/** Most characters of a comment. */
const MAX_COMMENT = 10_000;

/** Events of a comment, stream `comment-<tenant>.<comment id>`. Its author is who caused its first event. */
export type CommentEvent =
  | DomainEvent<'CommentAdded', { readonly entry_id: string; readonly body: string; /** The comment it answers. */ readonly parent?: string }>
  | DomainEvent<'CommentDeleted', { readonly entry_id: string }>;

/** An event with who caused it. */
export type CommentFact = CommentEvent & { readonly actor: Actor };

export type CommentState = { readonly entryId: string; readonly author: Actor; readonly deleted: boolean } | undefined;

/** Folds a comment; undefined before its first event. */
export const commentDecider: Decider<CommentState, CommentFact> = {
  initialState: () => undefined,
  evolve: (state, event) => (event.type === 'CommentAdded' ? { entryId: event.data.entry_id, author: event.actor, deleted: false } : state && { ...state, deleted: true }),
};

export type NewComment = { readonly entryId: string; readonly body: string; readonly parent: string | undefined; readonly actor: Actor };

/** @throws `validation_failed` for a text without content or with more than 10,000 characters; `conflict` when the id is in use */
export function addComment(state: CommentState, { entryId, body, parent, actor }: NewComment): readonly CommentFact[] {
  if (state) throw refusal('conflict');
  if (body.trim() === '') throw refusal('validation_failed', { fields: [{ field: 'body', message: 'is required' }] });
  if (Array.from(body).length > MAX_COMMENT) throw refusal('validation_failed', { fields: [{ field: 'body', message: `must hold at most ${MAX_COMMENT} characters` }] });
  return [{ type: 'CommentAdded', data: { entry_id: entryId, body, ...(parent === undefined ? {} : { parent }) }, actor }];
}

/** Deletes a comment of the entry: its author may, and who `administers`. @throws `comment_not_found`, `permission_denied` */
export function deleteComment(state: CommentState, { entryId, actor, administers }: { readonly entryId: string; readonly actor: Actor; readonly administers: boolean }): readonly CommentFact[] {
  if (!state || state.deleted || state.entryId !== entryId) throw refusal('comment_not_found');
  const own = state.author.kind === actor.kind && state.author.id === actor.id;
  if (!own && !administers) throw refusal('permission_denied');
  return [{ type: 'CommentDeleted', data: { entry_id: entryId }, actor }];
}

/** Reads a stored event of a comment's stream. @throws RangeError for a type that is none of a comment's */
export function parseCommentEvent(event: RecordedEvent): CommentFact {
  if (!isCommentEvent(event)) throw new RangeError(`no event of a comment: ${event.type} in ${event.stream}`);
  return { ...event, actor: event.metadata.actor };
}

function isCommentEvent(event: RecordedEvent): event is RecordedEvent & CommentEvent {
  return event.type === 'CommentAdded' || event.type === 'CommentDeleted';
}
