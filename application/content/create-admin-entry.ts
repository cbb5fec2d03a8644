import type { ContentType } from '../../domain/content/content-type.ts';
import { titleOf } from '../../domain/content/entry-title.ts';
import type { CommandContext } from '../../domain/context.ts';
import { invalidField } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AdminEntryDependencies } from './admin-entry-dependencies.ts';
import { createEntry } from './create-entry.ts';
import type { EntryOutcome } from './run-entry-command.ts';
import { writeWithSlug } from './write-with-slug.ts';

export type CreateAdminEntryInput = {
  readonly type: ContentType;
  readonly data: JsonObject;
  readonly slug?: string | undefined;
  readonly status?: 'draft' | 'published' | undefined;
};

/**
 * Creates an entry with a slug: the given one, or one made from its title.
 * @throws `validation_failed`, also for a draft of a type without drafts; `unique_value_held`
 */
export function createAdminEntry(
  { type, data, slug, status }: CreateAdminEntryInput,
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  if (status === 'draft' && type.definition.with_draft_publish !== true) {
    throw invalidField('status', 'the content type has no drafts');
  }
  const title = titleOf(type.definition, data, new Set());
  const id = context.newId();
  const write = (chosen: string | undefined): Promise<EntryOutcome> =>
    createEntry({ id, type, data, slug: chosen, status }, context, dependencies);
  return writeWithSlug({ type, chosenSlug: slug, title, write }, dependencies);
}
