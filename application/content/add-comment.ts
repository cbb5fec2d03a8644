import { parseCommentEvent } from '../../domain/content/comment-events.ts';
import { commentDecider } from '../../domain/content/comment.ts';
import type { CommandContext } from '../../domain/context.ts';
import { invalidField } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { UUID_PATTERN } from '../../domain/uuid.ts';
import { findEarlierWrite } from '../find-earlier-write.ts';
import { handleCommand } from '../handle-command.ts';
import type { Comment, Comments } from '../ports/comments.ts';
import type { EventStore } from '../ports/event-store.ts';

export type CommentDependencies = { readonly eventStore: EventStore; readonly comments: Comments };

/**
 * Adds a comment to an entry. `parent` is the id of the comment that it answers.
 * @throws `validation_failed` for an invalid body, or a `parent` that is not a comment on the entry
 */
export async function addComment(
  { entryId, body, parent }: { readonly entryId: string; readonly body: string; readonly parent: string | undefined },
  context: CommandContext,
  { eventStore, comments }: CommentDependencies,
): Promise<{ readonly comment: Comment; readonly position: GlobalPosition | undefined }> {
  const { tenant, actor } = context;
  const id = context.newId();
  const stream = commentStream(tenant, id);
  const parentId = parent?.toLowerCase();
  if (
    parentId !== undefined &&
    !(await findEarlierWrite({ stream }, context, { eventStore })) &&
    !(UUID_PATTERN.test(parentId) && (await comments.exists({ tenant, entryId, id: parentId })))
  ) {
    throw invalidField('parent', 'comment not found');
  }
  const { position, events } = await handleCommand(
    {
      stream,
      decider: commentDecider,
      parse: parseCommentEvent,
      decide: (state) => commentDecider.decide(state, { kind: 'add', entryId, body, parent: parentId, actor }),
    },
    context,
    { eventStore },
  );
  return {
    comment: {
      id,
      entryId,
      parent: parentId,
      body,
      author: actor,
      createdAt: events[0]?.metadata.occurred_at ?? context.now().toISOString(),
    },
    position,
  };
}

export function commentStream(tenant: string, id: string): string {
  return streamName({ category: 'comment', tenant, id });
}
