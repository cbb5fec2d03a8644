import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryCommandBase } from '../../domain/content/entry.ts';
import { type CommandContext, timestamp } from '../../domain/context.ts';

/** What every command on an entry carries. Its time is the current time of the context. */
export function entryCommandBase(
  { type, id }: { readonly type: ContentType; readonly id: string },
  context: Pick<CommandContext, 'actor' | 'now'>,
): EntryCommandBase {
  return {
    entryId: id,
    typeId: type.id,
    typeRevision: type.revision,
    definition: type.definition,
    actor: context.actor,
    at: timestamp(context),
  };
}
