import { moveEntry as decide } from '../../domain/content/entry.ts';
import type { EntryMove } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

/**
 * Publishes, unpublishes, archives or unarchives an entry (spec 1, entry status; spec 4 A).
 * @throws `entry_not_found`, `entry_changed`, `invalid_status_transition`
 */
export function moveEntry(
  { type, id, move, versions }: { readonly type: ContentType; readonly id: string; readonly move: EntryMove; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand({ type, id, decide: (state, command) => decide(state, { ...command, move, versions }) }, context, dependencies);
}
