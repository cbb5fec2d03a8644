import type { Decider } from '../decider.ts';
import { invalidField, refusal } from '../errors.ts';
import type { Actor } from '../event.ts';
import type { AttributedCommentEvent } from './comment-events.ts';

/** Maximum length of a comment in characters (code points). */
const MAX_COMMENT = 10_000;

/** Undefined before the first event. */
export type CommentState = { readonly entryId: string; readonly author: Actor; readonly deleted: boolean } | undefined;

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
  initialState: () => undefined,
  decide: (state, command) => (command.kind === 'add' ? add(state, command) : remove(state, command)),
  evolve: (state, event) =>
    event.type === 'CommentAdded'
      ? { entryId: event.data.entry_id, author: event.actor, deleted: false }
      : state && { ...state, deleted: true },
};

/**
 * @throws `validation_failed` for a blank body or one of more than 10,000 characters; `conflict` when the id is in use
 */
function add(state: CommentState, command: CommandOf<'add'>): readonly AttributedCommentEvent[] {
  const { entryId, body, parent, actor } = command;
  if (state) throw refusal('conflict');
  if (body.trim() === '') throw invalidField('body', 'is required');
  if (Array.from(body).length > MAX_COMMENT) throw invalidField('body', `must hold at most ${MAX_COMMENT} characters`);
  return [
    { type: 'CommentAdded', data: { entry_id: entryId, body, ...(parent === undefined ? {} : { parent }) }, actor },
  ];
}

/** @throws `comment_not_found`; `permission_denied` unless the actor is the author or `administers` */
function remove(state: CommentState, command: CommandOf<'delete'>): readonly AttributedCommentEvent[] {
  const { entryId, actor, administers } = command;
  if (!state || state.deleted || state.entryId !== entryId) throw refusal('comment_not_found');
  const own = state.author.kind === actor.kind && state.author.id === actor.id;
  if (!own && !administers) throw refusal('permission_denied');
  return [{ type: 'CommentDeleted', data: { entry_id: entryId }, actor }];
}
