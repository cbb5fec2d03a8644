import type { Decider } from '../decider.ts';
import { invalidField, refusal } from '../errors.ts';
import { type Actor, isSameActor } from '../event.ts';
import type { AttributedCommentEvent } from './comment-events.ts';

/** Maximum length of a comment in characters (code points). */
const MAX_COMMENT = 10_000;

type Comment = { readonly entryId: string; readonly author: Actor; readonly deleted: boolean };

/** Undefined before the first event. */
export type CommentState = Comment | undefined;

export type CommentCommand =
  | {
      readonly kind: 'add';
      readonly entryId: string;
      readonly body: string;
      /** Id of the comment that this one answers. */
      readonly parent: string | undefined;
      readonly actor: Actor;
    }
  | {
      readonly kind: 'delete';
      readonly entryId: string;
      readonly actor: Actor;
      /** The actor may delete the comments of others. */
      readonly administers: boolean;
    };

type CommandOf<Kind extends CommentCommand['kind']> = Extract<CommentCommand, { readonly kind: Kind }>;

export const commentDecider: Decider<CommentState, CommentCommand, AttributedCommentEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): CommentState {
  return undefined;
}

/**
 * @throws `conflict` when the id of a new comment is in use; `validation_failed` for a blank body or one of more than
 *   10,000 characters; `comment_not_found`; `permission_denied` when the actor who deletes is neither the author nor
 *   `administers`
 */
function decide(state: CommentState, command: CommentCommand): readonly AttributedCommentEvent[] {
  switch (command.kind) {
    case 'add':
      if (state) throw refusal('conflict');
      return add(command);
    case 'delete':
      return remove(existing(state, command), command);
  }
}

function existing(state: CommentState, { entryId }: CommandOf<'delete'>): Comment {
  if (!state || state.deleted || state.entryId !== entryId) throw refusal('comment_not_found');
  return state;
}

function add({ entryId, body, parent, actor }: CommandOf<'add'>): readonly AttributedCommentEvent[] {
  if (body.trim() === '') throw invalidField('body', 'is required');
  if (Array.from(body).length > MAX_COMMENT) throw invalidField('body', `must have at most ${MAX_COMMENT} characters`);
  return [
    { type: 'CommentAdded', data: { entry_id: entryId, body, ...(parent === undefined ? {} : { parent }) }, actor },
  ];
}

function remove(
  comment: Comment,
  { entryId, actor, administers }: CommandOf<'delete'>,
): readonly AttributedCommentEvent[] {
  if (!isSameActor(comment.author, actor) && !administers) throw refusal('permission_denied');
  return [{ type: 'CommentDeleted', data: { entry_id: entryId }, actor }];
}

function evolve(state: CommentState, event: AttributedCommentEvent): CommentState {
  switch (event.type) {
    case 'CommentAdded':
      return { entryId: event.data.entry_id, author: event.actor, deleted: false };
    case 'CommentDeleted':
      return state && { ...state, deleted: true };
  }
}
