import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryStatus } from '../../domain/content/entry-events.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { JsonObject } from '../../domain/json.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type CreateEntryInput = {
  /** Default: a new id. */
  readonly id?: string;
  readonly type: ContentType;
  readonly data: JsonObject;
  readonly slug?: string | undefined;
  /** Default: `draft` for a type with draft and publish. Entries of other types are published. */
  readonly status?: EntryStatus | undefined;
};

/** Creates an entry. @throws `validation_failed`, `unique_value_held` */
export function createEntry(
  { id, type, data, slug, status }: CreateEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand(
    {
      type,
      id: id ?? context.newId(),
      isNew: true,
      decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'create', data, slug, status }),
    },
    context,
    dependencies,
  );
}
