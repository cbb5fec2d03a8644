import { createEntry as decide } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryStatus } from '../../domain/content/events.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { JsonObject } from '../../domain/json.ts';
import { runEntryCommand } from './run-entry-command.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';

export type NewEntry = { readonly type: ContentType; readonly data: JsonObject; readonly slug?: string | undefined; readonly status?: EntryStatus | undefined };

/** Creates an entry; a draft where the type has draft and publish. @throws `validation_failed`, `unique_value_held` */
export function createEntry({ type, data, slug, status }: NewEntry, context: CommandContext, dependencies: EntryDependencies): Promise<EntryOutcome> {
  return runEntryCommand({ type, id: context.newId(), isNew: true, decide: (state, command) => decide(state, { ...command, data, slug, status }) }, context, dependencies);
}
