import type { ContentType } from '../../domain/content/content-type.ts';
import { titleOf } from '../../domain/content/entry-title.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { EntrySlugs } from '../ports/entry-slugs.ts';
import { underSlug } from './choose-slug.ts';
import { createEntry } from './create-entry.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';
import { updateEntry } from './update-entry.ts';

export type AdminEntryDependencies = EntryDependencies & { readonly slugs: EntrySlugs };

/** An entry of the admin content has a slug: the one given, or one made from its title (spec 4 A). */
type AdminWrite = { readonly type: ContentType; readonly slug?: string | undefined };

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** @throws `validation_failed`, also for a status that the type does not know; `unique_value_held` */
export function createAdminEntry(
  { type, data, slug, status }: AdminWrite & { readonly data: JsonObject; readonly status?: 'draft' | 'published' | undefined },
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  if (status === 'draft' && type.definition.with_draft_publish !== true) {
    throw refusal('validation_failed', { fields: [{ field: 'status', message: 'the content type has no drafts' }] });
  }
  const title = titleOf(type.definition, data, NOTHING_HIDDEN);
  return underSlug({ type, given: slug, title }, dependencies.slugs, (chosen) => createEntry({ type, data, slug: chosen, status }, context, dependencies));
}

/** Writes the fields of `data` and the slug; an entry that has none yet gets one. @throws `entry_not_found`, `entry_changed`, `validation_failed`, `unique_value_held` */
export async function updateAdminEntry(
  { type, id, data, slug, versions }: AdminWrite & { readonly id: string; readonly data: JsonObject; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  const stored = slug === undefined ? await dependencies.rows.load(type, id) : undefined;
  const title = stored && stored.slug === undefined ? titleOf(type.definition, { ...stored.fields, ...data }, NOTHING_HIDDEN) : undefined;
  return underSlug({ type, given: slug, title }, dependencies.slugs, (chosen) => updateEntry({ type, id, data, slug: chosen, versions }, context, dependencies));
}
