import type { ContentType } from '../../domain/content/content-type.ts';
import { entryDecider, type EntryMove } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { runEntryCommand, type EntryDependencies, type EntryOutcome } from './run-entry-command.ts';

export type MoveEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly move: EntryMove;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
};

/**
 * Publishes, unpublishes, archives or unarchives an entry.
 * @throws `entry_not_found`, `entry_changed`, `invalid_status_transition`
 */
export function moveEntry(
  { type, id, move, versions }: MoveEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand(
    { type, id, decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'move', move, versions }) },
    context,
    dependencies,
  );
}
