import type { ContentType } from '../../domain/content/content-type.ts';
import { type EntryTransition, entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type TransitionEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly transition: EntryTransition;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
};

/**
 * Publishes, unpublishes, archives or unarchives an entry.
 * @throws `entry_not_found`, `entry_changed`, `invalid_status_transition`
 */
export function transitionEntry(
  { type, id, transition, versions }: TransitionEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand(
    {
      type,
      id,
      decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'transition', transition, versions }),
    },
    context,
    dependencies,
  );
}
