import type { ContentType } from '../../domain/content/content-type.ts';
import { titleOf } from '../../domain/content/entry-title.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AdminEntryDependencies } from './admin-entry-dependencies.ts';
import { changeEntry } from './change-entry.ts';
import type { EntryOutcome } from './run-entry-command.ts';
import { writeWithSlug } from './write-with-slug.ts';

export type ChangeAdminEntryInput = {
  readonly type: ContentType;
  readonly id: string;
  readonly data: JsonObject;
  readonly slug?: string | undefined;
  readonly versions?: readonly number[] | undefined;
};

/**
 * Writes the fields of `data` and the slug. An entry without a slug gets one.
 * @throws `entry_not_found`, `entry_changed`, `validation_failed`, `unique_value_held`
 */
export async function changeAdminEntry(
  { type, id, data, slug, versions }: ChangeAdminEntryInput,
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  const stored = slug === undefined ? await dependencies.entryRows.load(type, id) : undefined;
  const title =
    stored && stored.slug === undefined
      ? titleOf(type.definition, { ...stored.fields, ...data }, new Set())
      : undefined;
  const write = (chosen: string | undefined): Promise<EntryOutcome> =>
    changeEntry({ type, id, data, slug: chosen, versions }, context, dependencies);
  return writeWithSlug({ type, chosenSlug: slug, title, write }, dependencies);
}
