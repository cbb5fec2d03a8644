import { deleteEntry as decide } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import { releaseReferences } from './release-references.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

/**
 * Deletes an entry; its stream stays, its unique values become free, optional references to it go (spec 4 A).
 * @throws `entry_not_found`, `entry_changed`, `entry_referenced` when another entry requires it
 */
export async function deleteEntry(
  { type, id, versions }: { readonly type: ContentType; readonly id: string; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const references = releaseReferences({ type, id }, context, dependencies);
  try {
    const outcome = await runEntryCommand({ type, id, decide: (state, command) => decide(state, { ...command, versions }), alongside: references.alongside }, context, dependencies);
    await references.settle();
    return outcome;
  } catch (error) {
    await references.settle(error);
    throw error;
  }
}
