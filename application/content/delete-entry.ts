import { deleteEntry as decide } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

/** Deletes an entry; its stream stays, its unique values become free. @throws `entry_not_found`, `entry_changed` */
export function deleteEntry(
  { type, id, versions }: { readonly type: ContentType; readonly id: string; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand({ type, id, decide: (state, command) => decide(state, { ...command, versions }) }, context, dependencies);
}
