import { unpublishEntry as decide } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

/** Takes a published entry back to draft. @throws `entry_not_found`, `entry_changed`, `invalid_status_transition` for anything but a published entry */
export function unpublishEntry(
  { type, id, versions }: { readonly type: ContentType; readonly id: string; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand({ type, id, decide: (state, command) => decide(state, { ...command, versions }) }, context, dependencies);
}
