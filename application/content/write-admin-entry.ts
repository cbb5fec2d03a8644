import type { ContentType } from '../../domain/content/content-type.ts';
import { titleOf } from '../../domain/content/entry-title.ts';
import type { CommandContext } from '../../domain/context.ts';
import { refusal } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { EntrySlugs } from '../ports/entry-slugs.ts';
import { createEntry } from './create-entry.ts';
import type { EntryDependencies, EntryOutcome } from './run-entry-command.ts';
import { updateEntry } from './update-entry.ts';
import { writeWithSlug } from './write-with-slug.ts';

export type AdminEntryDependencies = EntryDependencies & { readonly slugs: EntrySlugs };

/** An entry written by the console gets a slug: the given one, or one made from its title. */
type AdminWrite = { readonly type: ContentType; readonly slug?: string | undefined };

const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** @throws `validation_failed`, also for a draft of a type without drafts; `unique_value_held` */
export function createAdminEntry(
  {
    type,
    data,
    slug,
    status,
  }: AdminWrite & { readonly data: JsonObject; readonly status?: 'draft' | 'published' | undefined },
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  if (status === 'draft' && type.definition.with_draft_publish !== true) {
    throw refusal('validation_failed', { fields: [{ field: 'status', message: 'the content type has no drafts' }] });
  }
  const title = titleOf(type.definition, data, NOTHING_HIDDEN);
  const write = (chosen: string | undefined): Promise<EntryOutcome> =>
    createEntry({ type, data, slug: chosen, status }, context, dependencies);
  return writeWithSlug({ type, given: slug, title, write }, dependencies);
}

/**
 * Writes the fields of `data` and the slug. An entry without a slug gets one.
 * @throws `entry_not_found`, `entry_changed`, `validation_failed`, `unique_value_held`
 */
export async function updateAdminEntry(
  {
    type,
    id,
    data,
    slug,
    versions,
  }: AdminWrite & { readonly id: string; readonly data: JsonObject; readonly versions?: readonly number[] | undefined },
  context: CommandContext,
  dependencies: AdminEntryDependencies,
): Promise<EntryOutcome> {
  const stored = slug === undefined ? await dependencies.rows.load(type, id) : undefined;
  const title =
    stored && stored.slug === undefined
      ? titleOf(type.definition, { ...stored.fields, ...data }, NOTHING_HIDDEN)
      : undefined;
  const write = (chosen: string | undefined): Promise<EntryOutcome> =>
    updateEntry({ type, id, data, slug: chosen, versions }, context, dependencies);
  return writeWithSlug({ type, given: slug, title, write }, dependencies);
}
