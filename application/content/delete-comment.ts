import { parseCommentEvent } from '../../domain/content/comment-events.ts';
import { commentDecider } from '../../domain/content/comment.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import { type CommentDependencies, commentStream } from './add-comment.ts';

/**
 * Deletes a comment on an entry. The answers to it stay.
 * @throws `comment_not_found`; `permission_denied` unless the caller is the author or `administers`
 */
export async function deleteComment(
  { id, entryId, administers }: { readonly id: string; readonly entryId: string; readonly administers: boolean },
  context: CommandContext,
  { eventStore }: Pick<CommentDependencies, 'eventStore'>,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand(
    {
      stream: commentStream(context.tenant, id),
      decider: commentDecider,
      parse: parseCommentEvent,
      decide: (state) => commentDecider.decide(state, { kind: 'delete', entryId, actor: context.actor, administers }),
    },
    context,
    { eventStore },
  );
  return position;
}
