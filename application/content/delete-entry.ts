import type { ContentType } from '../../domain/content/content-type.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { withClaims } from '../with-claims.ts';
import { type ReferenceRelease, releaseReferences } from './release-references.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type DeleteEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
};

/**
 * Deletes an entry. Its stream stays, its unique values are released, and optional references to it are removed.
 * @throws `entry_not_found`, `entry_changed`, `entry_referenced` when another entry requires it
 */
export function deleteEntry(
  { type, id, versions }: DeleteEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  const command = context.newId();
  let references: ReferenceRelease | undefined;
  return withClaims(
    {
      command,
      work(session) {
        references = releaseReferences({ type, id, command, session }, context, dependencies);
        const { alongside } = references;
        return runEntryCommand(
          {
            type,
            id,
            decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'delete', versions }),
            guards: async () => ({
              // The references are read after this position; a later one makes the append fail.
              unmentioned: {
                tenant: type.tenant,
                category: 'entry',
                text: id,
                after: await dependencies.entryRows.position(),
              },
            }),
            alongside,
          },
          context,
          dependencies,
        );
      },
      heldAfter: (_outcome, stream) => references?.heldAfter(stream),
    },
    dependencies,
  );
}
