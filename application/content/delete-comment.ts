import { commentDecider, deleteComment as decide, parseCommentEvent } from '../../domain/content/comment.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { handleCommand } from '../handle-command.ts';
import { commentStream } from './add-comment.ts';
import type { CommentDependencies } from './add-comment.ts';

/** Deletes a comment on an entry; answers to it stay. @throws `comment_not_found`, `permission_denied` for a caller who neither wrote it nor `administers` */
export async function deleteComment(
  { id, entryId, administers }: { readonly id: string; readonly entryId: string; readonly administers: boolean },
  context: CommandContext,
  { eventStore }: Pick<CommentDependencies, 'eventStore'>,
): Promise<GlobalPosition | undefined> {
  const { position } = await handleCommand({
    eventStore,
    stream: commentStream(context.tenant, id),
    decider: commentDecider,
    parse: parseCommentEvent,
    context,
    decide: (state) => decide(state, { entryId, actor: context.actor, administers }),
  });
  return position;
}
