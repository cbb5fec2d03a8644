import { changeEntry } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { JsonObject } from '../../domain/json.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

export type EntryUpdate = { readonly type: ContentType; readonly id: string; readonly data: JsonObject; readonly slug?: string | undefined; readonly versions?: readonly number[] | undefined };

/** Writes the fields of `data` (spec 1, update rules) and the slug where one is given. Appends nothing where nothing changes. @throws `entry_not_found`, `entry_changed`, `validation_failed`, `unique_value_held` */
export function updateEntry({ type, id, data, slug, versions }: EntryUpdate, context: CommandContext, dependencies: EntryDependencies): Promise<EntryOutcome> {
  return runEntryCommand({ type, id, decide: (state, command) => changeEntry(state, { ...command, data, slug, versions }) }, context, dependencies);
}
