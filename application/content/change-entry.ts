import type { ContentType } from '../../domain/content/content-type.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { JsonObject } from '../../domain/json.ts';
import { type EntryDependencies, type EntryOutcome, runEntryCommand } from './run-entry-command.ts';

export type ChangeEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly data: JsonObject;
  readonly slug?: string | undefined;
  /** Versions of an `If-Match` header. */
  readonly versions?: readonly number[] | undefined;
};

/**
 * Writes the fields of `data`, and the slug if one is given. Appends no event when nothing changes.
 * @throws `entry_not_found`, `entry_changed`, `validation_failed`, `unique_value_held`
 */
export function changeEntry(
  { type, id, data, slug, versions }: ChangeEntryInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<EntryOutcome> {
  return runEntryCommand(
    {
      type,
      id,
      decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'change', data, slug, versions }),
    },
    context,
    dependencies,
  );
}
